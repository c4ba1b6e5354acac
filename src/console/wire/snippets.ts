import type { ConsoleExchange } from './exchange.ts';

type Sent = Pick<ConsoleExchange, 'method' | 'url' | 'headers' | 'body' | 'isStream'>;

const OWN = /^(user-agent|accept-encoding|idempotency-key|content-length)$/i;

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Secrets are never copied: the snippet reads them from a shell variable. */
function headersOf({ headers }: Sent): readonly (readonly [string, string])[] {
  return headers.filter(([name]) => !OWN.test(name));
}

/** A call of gRPC as a grpcurl command. */
function asGrpcurl(sent: Sent, call: string): string {
  const { origin, host } = new URL(sent.url);
  const own = headersOf(sent).filter(([name]) => !/^(?:content-type|accept|te)$/i.test(name));
  const lines = [`grpcurl${origin.startsWith('http:') ? ' -plaintext' : ''}`];
  for (const [name, value] of own)
    lines.push(REMOVED.test(value) ? `  -H "${name}: Bearer $PARLEY_TOKEN"` : `  -H ${quoted(`${name}: ${value}`)}`);
  if (sent.body !== '') lines.push(`  -d ${quoted(sent.body)}`);
  return [...lines, `  ${host} ${call}`].join(' \\\n');
}

const REMOVED = /•••|\[removed\]/;

/** The request as a curl command. */
export function asCurl(sent: Sent): string {
  const { method, url, body, isStream } = sent;
  const call = /\/((?:lf\.)?a2a\.v1\.A2AService\/\w{1,60})$/.exec(new URL(url).pathname)?.[1];
  if (call !== undefined) return asGrpcurl(sent, call);
  const lines = [`curl${isStream ? ' -N' : ''}${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`];
  for (const [name, value] of headersOf(sent)) {
    lines.push(REMOVED.test(value) ? `  -H "${name}: Bearer $PARLEY_TOKEN"` : `  -H ${quoted(`${name}: ${value}`)}`);
  }
  if (body !== '') lines.push(`  -d ${quoted(body)}`);
  return lines.join(' \\\n');
}

interface Said {
  readonly agent: string;
  readonly text: string | undefined;
  readonly taskId: string | undefined;
}

function saidIn({ url, body }: Sent): Said {
  const agent = url.replace(
    /\/((?:lf\.)?a2a\.v1\.A2AService\/\w{1,60}|a2a(\/jsonrpc)?|message:(send|stream)|tasks.*|\.well-known.*|v1\/.*)$/s,
    '',
  );
  const text = /"text"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(body)?.[1];
  const taskId = /"(?:taskId|task_id)"\s*:\s*"([^"]+)"/.exec(body)?.[1];
  return { agent, text: text === undefined ? undefined : (JSON.parse(text) as string), taskId };
}

/** The request as a parley command. */
export function asCli(sent: Sent): string {
  const { agent, text, taskId } = saidIn(sent);
  if (text !== undefined)
    return `parley send ${quoted(text)} -a ${agent}${taskId === undefined ? '' : ` --task-id ${taskId}`}${sent.isStream ? ' --stream' : ''}`;
  if (sent.url.includes('agent-card')) return `parley card get -a ${agent}`;
  return taskId === undefined ? `parley task list -a ${agent}` : `parley task get ${taskId} -a ${agent}`;
}

/** The request as TypeScript code. */
export function asTypeScript(sent: Sent): string {
  const { agent, text, taskId } = saidIn(sent);
  const lines = [`import { A2AClient } from 'parley-a2a';`, '', `const agent = await A2AClient.connect(${JSON.stringify(agent)});`];
  if (text === undefined)
    lines.push(taskId === undefined ? 'console.log(agent.card);' : `console.log(await agent.get(${JSON.stringify(taskId)}));`);
  else if (sent.isStream) {
    lines.push(
      `for await (const event of agent.stream(${JSON.stringify(text)}${taskId === undefined ? '' : `, { taskId: ${JSON.stringify(taskId)} }`})) {`,
    );
    lines.push('  console.log(event);', '}');
  } else lines.push(`console.log(await agent.send(${JSON.stringify(text)}).text());`);
  return lines.join('\n');
}
