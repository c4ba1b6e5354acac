import { createServer } from 'node:http';
import { behave } from '../behaviour.ts';

/**
 * Society's agent server (0.3.0): `server.ts PORT`. Two card paths, one method on `/`, every JSON-RPC error with HTTP 200, and a status message
 * that is a string. The thread is the task, and a handler that fails is a failed task. Prints `ready` when it accepts requests.
 */
const port = Number(process.argv[2]);
const BODY_BYTES_MAX = 1 << 20;

const CARD = {
  name: 'peer-test',
  description: 'The test agent of test/peers on a Society server.',
  url: `http://127.0.0.1:${port}`,
  version: '1.0.0',
  skills: [{ id: 'talk', name: 'Talk' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
};

interface Params {
  readonly id: string;
  readonly message: { readonly role: string; readonly parts: readonly { readonly type: string; readonly text?: string }[] };
}

const server = createServer((request, response) => {
  const send = (status: number, body: string, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
  const isCard = request.url === '/.well-known/agent-card.json' || request.url === '/.well-known/agent.json';
  if (isCard && request.method === 'GET') return send(200, JSON.stringify(CARD));
  if (request.url !== '/') return send(404, '404 page not found\n');
  if (request.method !== 'POST') return send(405, 'Method Not Allowed\n', { allow: 'POST' });
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => void answer(Buffer.concat(chunks)).then((body) => send(200, JSON.stringify({ jsonrpc: '2.0', ...body }))));
});
server.listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));

async function answer(body: Buffer): Promise<object> {
  const refuse = (id: unknown, code: number, message: string) => ({ id, error: { code, message } });
  if (body.length > BODY_BYTES_MAX) return refuse(null, -32700, 'request body too large');
  let request: { jsonrpc?: string; id?: unknown; method?: string; params?: Params };
  try {
    request = JSON.parse(body.toString());
  } catch {
    return refuse(null, -32700, 'parse error');
  }
  const { jsonrpc, id = null, method, params } = request;
  if (jsonrpc !== '2.0') return refuse(id, -32600, 'invalid request: jsonrpc must be "2.0"');
  if (method !== 'tasks/send') return refuse(id, -32601, `method not found: ${method}`);
  if (id === null) return refuse(id, -32600, 'invalid request: id is required');
  if (!params?.id) return refuse(id, -32602, 'invalid params: task id is required');
  if (params.message?.role !== 'user') return refuse(id, -32602, 'invalid params: message role must be "user"');
  return { id, result: await handle(params) };
}

/** The exec handler: one text out, whole, when the program has ended. A program has no way to ask. */
async function handle({ id, message }: Params): Promise<object> {
  let text = '';
  let failure: string | undefined;
  const said = message.parts.filter(({ type }) => type === 'text').map((part) => part.text ?? '');
  await behave(
    { text: said.join('\n'), contextId: id, taskId: id, isCanceled: () => false },
    {
      text: (chunk) => {
        text += chunk;
      },
      ask: (question) => {
        text += question;
      },
      fail: (reason) => {
        failure = reason;
      },
      echo: () => {},
      complete: () => {},
      canceled: () => {},
    },
  );
  if (failure !== undefined) return { id, status: { state: 'failed', message: failure } };
  return { id, status: { state: 'completed' }, artifacts: [{ parts: [{ type: 'text', text }] }] };
}
