import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Task } from '#protocol';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import type { ServeOptions } from '../../src/server/adapters/node.ts';
import { startServer } from '../support/server.ts';
import { freshName, sendInit, sendTask, tasksWhere } from './client.ts';
import { times } from './size.ts';

/** docs/faults.md E12 over sockets. `src/engine/send/idempotency.test.ts` and `src/engine/tasks/races.test.ts` test each rule. */
const folder = mkdtempSync(join(tmpdir(), 'parley-e12-'));
afterAll(() => rmSync(folder, { recursive: true }));

const authenticate: NonNullable<ServeOptions['authenticate']> = (asked) => ({
  principal: { id: asked.header('x-user') ?? 'nobody', scopes: ['*'] },
});
/** Fifty concurrent requests exceed the rate limit of one caller, which has its own tests. */
const limits = { requestsPerSecondMax: 0 };
const open = (name: string) => startServer({ store: openSqliteStore(join(folder, name), { ballastBytes: 0 }), authenticate, limits });

const as = (user: string, key?: string): Record<string, string> => ({
  'X-User': user,
  ...(key === undefined ? {} : { 'Idempotency-Key': key }),
});

describe('E12: the same message again', () => {
  it('fifty times at once makes one task and gets one answer', async () => {
    const server = await open('at-once');
    for (let round = 0; round < times(20, 2000); round += 1) {
      const name = freshName('m');
      const options = { messageId: name, contextId: name, headers: as('alice', name) };
      const answers = await Promise.all(Array.from({ length: 50 }, () => sendTask(server.url, 'chunks=2 sleep=5', options)));
      expect(new Set(answers.map((task) => JSON.stringify(task))).size).toBe(1);
      expect(await tasksWhere(server.url, `contextId=${name}`)).toHaveLength(1);
    }
    await server.close();
  });

  it('later, after a restart, with another body, or from another caller', async () => {
    let server = await open('later');
    const name = freshName('m');
    const send = (text: string, user: string): Promise<Task> =>
      sendTask(server.url, text, { messageId: name, contextId: name, headers: as(user, name) });
    const first = await send('chunks=2', 'alice');
    expect(await send('chunks=2', 'alice')).toEqual(first);
    await server.close();
    server = await open('later');
    expect(await send('chunks=2', 'alice')).toEqual(first);
    const other = await fetch(
      `${server.url}/message:send`,
      sendInit('chunks=3', { messageId: name, contextId: name, headers: as('alice', name) }),
    );
    expect(other.status).toBe(400);
    expect(await other.text()).toContain('was already used for another message');
    const theirs = await send('chunks=2', 'bob');
    expect(theirs.id).not.toBe(first.id);
    expect(await tasksWhere(server.url, `contextId=${name}&principal=alice`)).toHaveLength(1);
    expect(await tasksWhere(server.url, `contextId=${name}&principal=bob`)).toHaveLength(1);
    await server.close();
  });
});
