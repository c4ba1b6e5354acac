import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { builtIn, startServer } from '../support/server.ts';

const SILENT = 'sleep=600000';

let node: NodeServer;
beforeEach(async () => {
  // A stream tells its caller nothing before the agent says something.
  node = await startServer({ agents: [builtIn('script')], limits: { firstOutputMs: 600_000 } });
});
afterEach(() => node.close());

async function states(): Promise<readonly string[]> {
  const { tasks } = (await (await fetch(`${node.url}/tasks`)).json()) as { tasks: { status: { state: string } }[] };
  return tasks.map(({ status: { state } }) => state);
}

/** Sends a request, and disconnects when its task runs. */
async function leaveBeforeOutput(path: string, body: object): Promise<void> {
  const sent = request(`${node.url}${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' } });
  sent.on('error', () => {}); // that it was cut off
  sent.end(JSON.stringify(body));
  await eventually(async () => expect(await states()).toEqual(['TASK_STATE_WORKING']));
  sent.destroy();
}

const chat = { model: 'script', messages: [{ role: 'user', content: SILENT }] };
const response = { model: 'script', input: SILENT };
const run = (onHangUp: string): object => ({
  ...{ threadId: 'thread', runId: 'run', state: {}, tools: [], context: [] },
  ...{ messages: [{ id: 'message-of-this-test', role: 'user', content: SILENT }], forwardedProps: { a2a: { onHangUp } } },
});

describe('a client that disconnects before the agent says something', () => {
  it.each([
    ['a chat completion', '/v1/chat/completions', chat],
    ['a streamed chat completion', '/v1/chat/completions', { ...chat, stream: true }],
    ['a response', '/v1/responses', response],
    ['a streamed response', '/v1/responses', { ...response, stream: true }],
    ['a run of AG-UI that is to be canceled', '/ag-ui', run('cancel')],
  ])('has its task canceled: %s', async (_name, path, body) => {
    await leaveBeforeOutput(path, body);
    await eventually(async () => expect(await states()).toEqual(['TASK_STATE_CANCELED']));
  });

  it('has its task canceled and forgotten if the response is not to be stored', async () => {
    await leaveBeforeOutput('/v1/responses', { ...response, store: false });
    await eventually(async () => expect(await states()).toEqual([]));
  });

  it.each([
    ['a response in the background', '/v1/responses', { ...response, background: true, stream: true }],
    ['a run of AG-UI', '/ag-ui', run('continue')],
  ])('leaves its task running: %s', async (_name, path, body) => {
    await leaveBeforeOutput(path, body);
    const calls = async (): Promise<string> => await (await fetch(`${node.url}/metrics`)).text();
    await eventually(async () => expect(await calls()).toMatch(/^parley_calls_total\{.*operation="stream"/m));
    expect(await states()).toEqual(['TASK_STATE_WORKING']);
  });
});
