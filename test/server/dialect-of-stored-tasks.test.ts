import { afterEach, expect, it } from 'vitest';
import type { Handler } from '#server';
import { cluster } from '../support/cells.ts';
import { handlerOf, jsonRequest } from '../support/server.ts';

const handlers: Handler[] = [];
afterEach(async () => {
  for (const handler of handlers.splice(0)) await handler.close();
});

const MESSAGE = { role: 'user', parts: [{ type: 'text', text: 'chunks=1' }] };

/** Two nodes over one store that answers no read at once, as a database does. */
function nodes() {
  const shared = cluster();
  const made = [shared.join([0, 1, 2, 3, 4, 5, 6, 7]), shared.join([])].map(({ store }) => handlerOf({ store }));
  handlers.push(...made);
  return made.map((handler) => async (method: string, params: object) => {
    const response = await handler.fetch(jsonRequest('http://localhost/', { jsonrpc: '2.0', id: 1, method, params }));
    return (await response.json()) as { readonly result?: { readonly id?: string; readonly kind?: string; readonly status?: object } };
  });
}

it('answers a request about a finished task in the dialect of the task, also if the store is on a network', async () => {
  const [first, second] = nodes();
  const sent = await first?.('tasks/send', { id: 'mine', sessionId: 's', message: MESSAGE });
  expect(sent?.result).toMatchObject({ id: 'mine', sessionId: 's', status: { state: 'completed' } });
  for (const node of [first, second]) {
    // The second node never had the task in memory: only the store knows its dialect.
    const got = await node?.('tasks/get', { id: 'mine' });
    // A task of 0.3 has a kind, and a contextId instead of a sessionId.
    expect(got?.result).toMatchObject({ id: 'mine', sessionId: 's', status: { state: 'completed' } });
    expect(got?.result).not.toHaveProperty('kind');
  }
  const later = await first?.('message/send', {
    message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'chunks=1' }] },
  });
  expect((await second?.('tasks/get', { id: later?.result?.id }))?.result).toMatchObject({ kind: 'task', id: later?.result?.id });
});
