import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { behave } from '../behaviour.ts';
import type { Part, Status } from './player.ts';

/**
 * PromptKit's A2A server (server/a2a at commit 86d9f367): `server.ts PORT`. It serves one card path and `/a2a`, answers a send after 5 ms
 * unless `blocking` is true, makes a task of every message, and streams each chunk as an artifact of its own with `append: true`. A question is
 * a client tool that waits. Prints `ready` when it accepts requests.
 */
const port = Number(process.argv[2]);
const SETTLE_MS = 5;

interface Kept {
  readonly id: string;
  readonly contextId: string;
  status: Status;
  artifacts?: { artifactId: string; parts: Part[] }[];
}

interface Message {
  readonly contextId?: string;
  readonly parts: readonly Part[];
}

interface Request {
  readonly id: unknown;
  readonly method: string;
  readonly params: {
    readonly id?: string;
    readonly contextId?: string;
    readonly message?: Message;
    readonly configuration?: { blocking?: boolean };
  };
}

const tasks = new Map<string, Kept>();
const stopped = new Set<string>();
const CARD = {
  name: 'peer-test',
  description: 'The test agent of test/peers on a PromptKit server.',
  version: '1',
  capabilities: { streaming: true },
  skills: [{ id: 'talk', name: 'Talk', description: 'Talks.' }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
};
const hex = (): string => crypto.randomUUID().replaceAll('-', '');
const now = (): string => new Date().toISOString();

const server = createServer((request, response) => {
  const json = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  if (request.method === 'GET' && request.url === '/.well-known/agent.json') return json(200, CARD);
  if (request.method !== 'POST' || request.url !== '/a2a') return json(404, 'not found');
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const call = JSON.parse(Buffer.concat(chunks).toString()) as Request;
    const write = (result: unknown): void => {
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: call.id, result })}\n\n`);
    };
    if (call.method === 'message/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      void stream(call, write).then(() => response.end());
      return;
    }
    void answer(call).then((outcome) => json(200, { jsonrpc: '2.0', id: call.id, ...outcome }));
  });
});
server.listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));

async function answer({ method, params }: Request): Promise<object> {
  const refuse = (code: number, message: string) => ({ error: { code, message } });
  const task = tasks.get(params.id ?? '');
  switch (method) {
    case 'message/send': {
      const made = create(params.message);
      const done = run(made, params.message, (parts) => addParts(made, parts));
      await (params.configuration?.blocking === true ? done : Promise.race([done, sleep(SETTLE_MS)]));
      return { result: made };
    }
    case 'tasks/get':
      return task === undefined ? refuse(-32001, 'Task not found') : { result: task };
    case 'tasks/cancel':
      if (task === undefined || task.status.state !== 'working') return refuse(-32001, 'Cancel failed');
      stopped.add(task.id);
      task.status = { state: 'canceled', timestamp: now() };
      return { result: task };
    case 'tasks/list': {
      const listed = [...tasks.values()].filter(({ contextId }) => contextId === params.contextId);
      return { result: { tasks: listed, pageSize: 100 } };
    }
    default:
      return refuse(-32601, 'Method not found');
  }
}

function create(message: Message | undefined): Kept {
  const made: Kept = { id: hex(), contextId: message?.contextId || hex(), status: { state: 'working', timestamp: now() } };
  tasks.set(made.id, made);
  return made;
}

/** A task that is not streamed has one artifact with all parts. */
function addParts(task: Kept, parts: readonly Part[]): void {
  task.artifacts ??= [{ artifactId: 'artifact-1', parts: [] }];
  task.artifacts[0]?.parts.push(...parts);
}

async function stream({ params }: Request, write: (event: object) => void): Promise<void> {
  const task = create(params.message);
  const ids = { taskId: task.id, contextId: task.contextId };
  let at = 0;
  write({ ...ids, status: { state: 'working' } });
  await run(task, params.message, (parts) => {
    for (const part of parts) {
      write({ ...ids, artifact: { artifactId: `artifact-${at}`, parts: [part] }, append: true });
      at += 1;
    }
  });
  if (!stopped.has(task.id)) write({ ...ids, status: task.status });
}

async function run(task: Kept, message: Message | undefined, out: (parts: readonly Part[]) => void): Promise<void> {
  const parts = message?.parts ?? [];
  const result = parts.find(({ metadata }) => metadata?.['tool_call_id'] !== undefined)?.metadata?.['tool_result'];
  const text = typeof result === 'string' ? result : parts.map((part) => part.text ?? '').join('');
  const settle = (state: string, said?: readonly Part[]): void => {
    if (stopped.has(task.id)) return;
    const status = said === undefined ? {} : { message: { messageId: '', role: 'agent', parts: said } };
    task.status = { state, ...status, timestamp: now() };
  };
  await behave(
    { text, contextId: task.contextId, taskId: task.contextId, isCanceled: () => stopped.has(task.id) },
    {
      text: (chunk) => out([{ text: chunk }]),
      ask: (question) =>
        settle('input_required', [
          {
            text: 'Client tool required: ask',
            metadata: { tool_call_id: 'call-1', tool_name: 'ask', tool_args: { question }, consent_message: question },
          },
        ]),
      fail: (reason) => settle('failed', [{ text: reason }]),
      echo: () => out(parts.filter((part) => part.text === undefined && part.data === undefined)),
      complete: () => settle('completed'),
      canceled: () => {},
    },
  );
}
