import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { closeReplicas, replicaPair } from '../support/replicas.ts';

afterEach(closeReplicas);

const post = (url: string, body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal: signal ?? null });

describe('a task of another replica', () => {
  const chat = { model: 'script', messages: [{ role: 'user', content: 'chunks=1000 delay=60' }] };
  const response = { model: 'script', input: 'chunks=1000 delay=60' };
  it.each([
    ['a chat completion', '/v1/chat/completions', chat, ['TASK_STATE_CANCELED']],
    ['a streamed chat completion', '/v1/chat/completions', { ...chat, stream: true }, ['TASK_STATE_CANCELED']],
    ['a streamed response', '/v1/responses', { ...response, stream: true }, ['TASK_STATE_CANCELED']],
    ['a response that is not stored', '/v1/responses', { ...response, store: false }, []],
  ])('is stopped there when the caller of %s leaves', async (_name, path, body, left) => {
    const { entry, owner } = await replicaPair();
    const caller = new AbortController();
    const sent = post(`${entry.server.url}${path}`, body, caller.signal);
    const ended = sent.then((answer) => answer.text()).catch(() => undefined);
    const states = async (): Promise<readonly string[]> => {
      const { tasks } = await (await fetch(`${owner.server.url}/tasks`)).json();
      return tasks.map((task: { status: { state: string } }) => task.status.state);
    };
    await eventually(async () => expect(await states()).toEqual(['TASK_STATE_WORKING']));
    caller.abort();
    await ended;
    await eventually(async () => expect(await states()).toEqual(left));
  });

  it('is deleted after an answer that is not stored, and its request is not sent once more', async () => {
    const { entry, owner } = await replicaPair();
    const answer = await post(`${entry.server.url}/v1/responses`, { ...response, input: 'chunks=2', store: false });
    expect(await answer.json()).toMatchObject({ status: 'completed' });
    expect((await (await fetch(`${owner.server.url}/tasks`)).json()).totalSize).toBe(0);
    expect(await (await fetch(`${owner.server.url}/metrics`)).text()).not.toContain('route="responses"');
  });
});
