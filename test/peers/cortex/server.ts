import { createServer } from 'node:http';
import { executed } from './execute.ts';
import type { CortexPart } from './player.ts';

/**
 * CortexPrism's A2A server (src/a2a/server.ts at commit 0c44657): `server.ts PORT`. A send returns a bare task whose text is an artifact and the
 * status message; a stream is the task, the whole answer, a final status and `[DONE]`, and knows no contexts. A cancel changes the state only.
 * Prints `ready` when it accepts requests.
 */
const port = Number(process.argv[2]);
const base = `http://127.0.0.1:${port}`;
const CARD = {
  name: 'peer-test',
  description: 'The test agent of test/peers on a CortexPrism server.',
  url: base,
  version: '1.0',
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
  capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true },
  skills: [{ id: 'talk', name: 'Talk', description: 'Talks.', tags: ['test'], examples: ['hello'] }],
  interfaces: [{ url: `${base}/a2a`, protocol: 'json-rpc', version: '1.0' }],
};
const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/a2a-agent-card.json', '/api/a2a/agent-card.json'];

interface Message {
  readonly parts?: readonly CortexPart[];
  readonly metadata?: { readonly contextId?: unknown };
}

interface Kept {
  status: object;
  history: object[];
  artifacts: { parts: readonly CortexPart[] }[];
}

const tasks = new Map<string, Kept>();
const statusOf = (state: string, message?: object) => ({
  state,
  ...(message === undefined ? {} : { message }),
  timestamp: new Date().toISOString(),
});
const said = (text: string) => ({ messageId: crypto.randomUUID(), role: 'agent', parts: [{ text }] });

const server = createServer((request, response) => {
  const json = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'a2a-version': '1.0' }).end(JSON.stringify(body));
  };
  if (request.method === 'GET' && CARD_PATHS.includes(request.url ?? '')) return json(200, CARD);
  if (request.method !== 'POST' || (request.url !== '/a2a' && request.url !== '/api/a2a')) return json(404, { error: 'not found' });
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      readonly id: unknown;
      readonly method: string;
      readonly params: { readonly id?: string; readonly message?: Message };
    };
    if (method === 'SendStreamingMessage') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'a2a-version': '1.0' });
      void stream(
        params.message,
        (frame) => response.write(`data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`),
        id,
      ).then(() => response.end());
      return;
    }
    void answer(method, params).then(({ status = 200, ...outcome }) => json(status, { jsonrpc: '2.0', ...outcome, id }));
  });
});
server.listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));

async function answer(
  method: string,
  params: { readonly id?: string; readonly message?: Message },
): Promise<{ readonly status?: number; readonly result?: unknown; readonly error?: object }> {
  switch (method) {
    case 'GetAgentCard':
    case 'GetExtendedAgentCard':
      return { result: CARD };
    case 'SendMessage':
      return { result: await send(params.message) };
    case 'GetTask':
      return { result: rebuild(params.id ?? '') };
    case 'ListTasks':
      return { result: { tasks: [...tasks.keys()].map(rebuild) } };
    case 'CancelTask': {
      const kept = tasks.get(params.id ?? '');
      if (kept !== undefined) kept.status = statusOf('TASK_STATE_CANCELED');
      return { result: rebuild(params.id ?? '') };
    }
    default:
      return { status: 404, error: { code: -32601, message: `Method not found: ${method}` } };
  }
}

/** The context is not part of a task that is read again. */
function rebuild(id: string): object | null {
  const kept = tasks.get(id);
  if (kept === undefined) return null;
  return { id, ...kept, artifacts: kept.artifacts.map((artifact, at) => ({ artifactId: `${id}-artifact-${at}`, ...artifact })) };
}

function create(id: string): Kept {
  const kept: Kept = { status: statusOf('TASK_STATE_WORKING'), history: [], artifacts: [] };
  tasks.set(id, kept);
  return kept;
}

async function send(message: Message = {}): Promise<object | null> {
  const id = `cortex-${crypto.randomUUID()}`;
  const kept = create(id);
  const context = typeof message.metadata?.contextId === 'string' ? message.metadata.contextId : id;
  try {
    const text = await executed(textOf(message), context);
    kept.history.push(message, said(text));
    kept.artifacts.push({ parts: [{ text }] });
    kept.status = statusOf('TASK_STATE_COMPLETED', said(text));
  } catch (error) {
    kept.status = statusOf('TASK_STATE_FAILED', said(`Execution failed: ${error instanceof Error ? error.message : String(error)}`));
  }
  return rebuild(id);
}

async function stream(message: Message = {}, write: (frame: object | string) => void, rpcId: unknown): Promise<void> {
  const taskId = `cortex-stream-${crypto.randomUUID()}`;
  const kept = create(taskId);
  write({ jsonrpc: '2.0', id: rpcId, result: { task: { id: taskId, status: kept.status, history: [] } } });
  try {
    const text = await executed(textOf(message), taskId);
    kept.artifacts.push({ parts: [{ text }] });
    write({
      type: 'TaskArtifactUpdateEvent',
      taskId,
      artifact: { artifactId: `${taskId}-artifact-0`, parts: [{ text }] },
      lastChunk: true,
    });
    kept.status = statusOf('TASK_STATE_COMPLETED', said(text));
    write({ type: 'TaskStatusUpdateEvent', taskId, status: { state: 'TASK_STATE_COMPLETED', message: said(text) }, final: true });
  } catch {
    kept.status = statusOf('TASK_STATE_FAILED');
    write({ type: 'TaskStatusUpdateEvent', taskId, status: { state: 'TASK_STATE_FAILED' }, final: true });
  }
  write('[DONE]');
}

function textOf({ parts = [] }: Message): string {
  return parts.flatMap((part) => (part.text ? [part.text] : [])).join('\n');
}
