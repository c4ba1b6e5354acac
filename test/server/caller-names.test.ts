import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import type { ServeOptions } from '../../src/server/adapters/node.ts';
import { handlerOf, jsonRequest } from '../support/server.ts';

/** Dialects in which callers choose the task id share methods such as `tasks/get` with 0.3. The task id decides which dialect is meant. */
const folder = mkdtempSync(join(tmpdir(), 'parley-names-'));
afterAll(() => rmSync(folder, { recursive: true }));

const authenticate: NonNullable<ServeOptions['authenticate']> = (asked) => ({
  principal: { id: asked.header('x-user') ?? 'alice', scopes: ['*'] },
});

interface Answered {
  readonly result?: { readonly id?: string; readonly status?: { readonly state: string } };
  readonly error?: { readonly code: number };
}

const STORES: Readonly<Record<string, () => object>> = {
  memory: () => ({}),
  SQLite: () => ({ store: openSqliteStore(join(folder, 'data'), { ballastBytes: 0 }) }),
};
const typed = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] });

describe.each(Object.entries(STORES))('a task that its caller has named, kept in %s', (_, options) => {
  const handler = handlerOf({ ...options(), authenticate });
  afterAll(() => handler.close());

  const ask = async (method: string, params: object, user = 'alice'): Promise<Response> =>
    await handler.fetch(jsonRequest('http://localhost/', { jsonrpc: '2.0', id: 1, method, params }, { 'X-User': user }));
  const call = async (method: string, params: object, user?: string): Promise<Answered> =>
    (await (await ask(method, params, user)).json()) as Answered;

  it('can be read, followed and cancelled by that name in 0.1', async () => {
    const sent = await call('tasks/send', { id: 'mine', sessionId: 's', message: typed('ask') });
    expect(sent.result).toMatchObject({ id: 'mine', status: { state: 'input-required' } });
    expect((await call('tasks/get', { id: 'mine' })).result).toMatchObject({ id: 'mine', status: { state: 'input-required' } });
    const following = await ask('tasks/resubscribe', { id: 'mine' });
    expect(following.headers.get('content-type')).toContain('text/event-stream');
    await following.body?.cancel();
    expect((await call('tasks/cancel', { id: 'mine' })).result).toMatchObject({ id: 'mine', status: { state: 'canceled' } });
    expect((await call('tasks/get', { id: 'mine' })).result?.status?.state).toBe('canceled');
  });

  it('can be read by that name in 0.1 if a Society-like request created it', async () => {
    await call('tasks/send', { id: 'thread', message: typed('chunks=1') });
    expect((await call('tasks/get', { id: 'thread' })).result).toMatchObject({ id: 'thread', status: { state: 'completed' } });
  });

  it('is not visible to other callers', async () => {
    await call('tasks/send', { id: 'private', sessionId: 's', message: typed('ask') });
    const [theirs, unknown] = [await call('tasks/get', { id: 'private' }, 'bob'), await call('tasks/get', { id: 'unknown' }, 'bob')];
    expect([theirs.error?.code, unknown.error?.code]).toEqual([-32001, -32001]);
  });
});
