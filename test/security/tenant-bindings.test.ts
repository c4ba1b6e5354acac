import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import { serveStdio } from '#bindings';
import { mcpMount } from '../../src/tools/adapters/mcp.ts';
import { keysOf } from '../support/key-ring.ts';
import { handlerOf, jsonRequest, sendBody } from '../support/server.ts';

/**
 * Every binding that test/security/tenant-matrix.test.ts and test/mesh/mqtt01-tenants.test.ts do not have, with a caller of the same name in
 * another tenant: it must not read, list, continue, cancel or follow a task.
 */
const SECRET = 'the launch code is 0000';
const keys = keysOf([
  { name: 'ann', tenant: 'acme' },
  { name: 'ann', tenant: 'globex' },
]);
const agent = defineAgent({
  name: 'keeper',
  description: 'keeps secrets',
  async *run(turn) {
    yield turn.text;
    yield (await turn.ask('continue?')).text;
  },
});
const handler = handlerOf({ agents: agent, auth: [keys.auth], mcp: mcpMount, limits: { requestsPerSecondMax: 0 } });
afterAll(() => handler.close());
const BASE = 'http://localhost';
type Who = 0 | 1;

const call = (who: Who, request: Request): Promise<Response> => {
  request.headers.set('Authorization', `Bearer ${keys.key(who)}`);
  return handler.fetch(request);
};

interface Thing {
  readonly id: string;
  readonly contextId: string;
}
let task: Thing;
beforeAll(async () => {
  const sent = await call(0, jsonRequest(`${BASE}/message:send`, sendBody(SECRET)));
  ({ task } = (await sent.json()) as { task: Thing });
});

/** Requests over a pipe, as a parent process with the credential of `who` sends them. Returns all lines. */
async function overStdio(who: Who, requests: readonly object[]): Promise<string> {
  const lines: string[] = [];
  const input = async function* (): AsyncGenerator<Uint8Array> {
    for (const request of requests) yield new TextEncoder().encode(`${JSON.stringify(request)}\n`);
  };
  await serveStdio({ input: input(), write: async (text) => void lines.push(text) }, (request) => call(who, request));
  return lines.join('\n');
}

const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params });
const message = (more: object): object => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'more' }], ...more },
});
const chat = (metadata: object, stream: boolean): Request =>
  jsonRequest(`${BASE}/v1/chat/completions`, { model: 'keeper', messages: [{ role: 'user', content: 'more' }], metadata, stream });
const responseOf = (id: string): string => `resp_${Buffer.from(JSON.stringify(['keeper', id, 'm', 1])).toString('base64url')}`;
const respond = (more: object): Request => jsonRequest(`${BASE}/v1/responses`, { model: 'keeper', input: 'more', ...more });
const agUi = (more: object): Request => jsonRequest(`${BASE}/ag-ui`, { threadId: task.contextId, runId: 'r', ...more });
const mcp = (name: string, args: object): Request =>
  jsonRequest(`${BASE}/mcp`, rpc('tools/call', { name, arguments: args }), { Accept: 'application/json, text/event-stream' });
const textOf = async (response: Response | Promise<Response>): Promise<string> => (await response).text();

/** Each row is one operation on the task of another tenant, and returns everything that the caller gets. */
const ROWS: readonly (readonly [binding: string, operation: string, run: (who: Who) => Promise<string>])[] = [
  ...[
    ['get', () => rpc('GetTask', { id: task.id })] as const,
    ['list', () => rpc('ListTasks', { includeArtifacts: true })] as const,
    ['list by context', () => rpc('ListTasks', { contextId: task.contextId })] as const,
    ['continue', () => rpc('SendMessage', message({ taskId: task.id }))] as const,
    ['stream', () => rpc('SendStreamingMessage', message({ taskId: task.id }))] as const,
    ['subscribe', () => rpc('SubscribeToTask', { id: task.id })] as const,
    ['cancel', () => rpc('CancelTask', { id: task.id })] as const,
    ['get in 0.3', () => rpc('tasks/get', { id: task.id })] as const,
    ['cancel in 0.3', () => rpc('tasks/cancel', { id: task.id })] as const,
  ].map(([operation, request]) => ['stdio', operation, (who: Who) => overStdio(who, [request()])] as const),
  ['OpenAI', 'continue a task', (who) => textOf(call(who, chat({ taskId: task.id }, false)))],
  ['OpenAI', 'continue a context', (who) => textOf(call(who, chat({ contextId: task.contextId }, false)))],
  ['OpenAI', 'stream a task', (who) => textOf(call(who, chat({ taskId: task.id }, true)))],
  ['OpenAI', 'read a response', (who) => textOf(call(who, new Request(`${BASE}/v1/responses/${responseOf(task.id)}`)))],
  [
    'OpenAI',
    'delete a response',
    (who) => textOf(call(who, new Request(`${BASE}/v1/responses/${responseOf(task.id)}`, { method: 'DELETE' }))),
  ],
  ['OpenAI', 'continue a response', (who) => textOf(call(who, respond({ previous_response_id: responseOf(task.id) })))],
  ['OpenAI', 'respond in a conversation', (who) => textOf(call(who, respond({ conversation: task.contextId })))],
  ['OpenAI', 'list a conversation', (who) => textOf(call(who, new Request(`${BASE}/v1/conversations/${task.contextId}/items`)))],
  [
    'OpenAI',
    'delete a conversation',
    (who) => textOf(call(who, new Request(`${BASE}/v1/conversations/${task.contextId}`, { method: 'DELETE' }))),
  ],
  ['AG-UI', 'open the thread again', (who) => textOf(call(who, agUi({ messages: [] })))],
  [
    'AG-UI',
    'answer in the thread',
    (who) => textOf(call(who, agUi({ messages: [{ id: 'of-another-tenant', role: 'user', content: 'more' }] }))),
  ],
  ['MCP', 'get', (who) => textOf(call(who, mcp('keeper_task', { taskId: task.id })))],
  ['MCP', 'continue', (who) => textOf(call(who, mcp('keeper', { message: 'more', taskId: task.id })))],
  [
    'SSE',
    'resume',
    (who) =>
      textOf(
        call(
          who,
          new Request(`${BASE}/tasks/${task.id}:subscribe`, {
            method: 'POST',
            headers: { 'Last-Event-ID': '1', Accept: 'text/event-stream' },
          }),
        ),
      ),
  ],
];

describe('a task of the same name in another tenant', () => {
  it.each(ROWS)('over %s: %s', async (_, __, run) => {
    expect(await run(1)).not.toContain(SECRET);
  });

  it('is unchanged, and its owner can read it over a pipe', async () => {
    const own = await overStdio(0, [rpc('GetTask', { id: task.id })]);
    expect(own).toContain(SECRET);
    expect(own).toContain('TASK_STATE_INPUT_REQUIRED');
    expect(own).not.toContain('"more"');
  });
});
