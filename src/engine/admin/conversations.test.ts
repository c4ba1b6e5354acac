import { describe, expect, it } from 'vitest';
import { contextId, taskId } from '#protocol';
import { BOB, ctx, echo, request, taskOf, world } from '../../../test/support/engine.ts';

describe('conversations for operators', () => {
  it('groups the tasks of a caller and a context, newest first, with the first words', async () => {
    const { service, engine, time } = await world(echo);
    const first = taskOf(await service.send(request('Where is\n the  report?'), ctx()));
    await time.advance(1000);
    const other = taskOf(await service.send(request('x'.repeat(500)), ctx({ principal: BOB })));
    await time.advance(1000);
    const again = request('And the next?');
    const inContext = { ...again, message: { ...again.message, contextId: contextId(first.contextId ?? '') } };
    const second = taskOf(await service.send(inContext, ctx()));
    const { conversations, nextPageToken } = await engine.admin.conversations({});
    expect(nextPageToken).toBe('');
    expect(conversations).toMatchObject([
      { contextId: first.contextId, principal: 'alice', words: 'Where is the report?', tasks: 2, lastTask: second.id },
      { contextId: other.contextId, principal: 'bob', words: `${'x'.repeat(159)}…`, tasks: 1, lastTask: other.id },
    ]);
    const [started, changed] = [Date.parse(conversations[0]?.startedAt ?? ''), Date.parse(conversations[0]?.statusAt ?? '')];
    expect(changed).toBeGreaterThan(started);
    const page = await engine.admin.conversations({ pageSize: 1 });
    const rest = await engine.admin.conversations({ pageSize: 1, pageToken: page.nextPageToken });
    expect([...page.conversations, ...rest.conversations].map(({ contextId: id }) => id)).toEqual([first.contextId, other.contextId]);
    await expect(engine.admin.conversations({ pageSize: 101 })).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
  });

  it('tells how tasks began, within the operator’s tenant only', async () => {
    const { service, engine } = await world(echo);
    const mine = taskOf(await service.send(request('mine'), ctx()));
    const theirs = taskOf(await service.send(request('theirs'), ctx({ principal: BOB, tenant: 'acme' as never })));
    const ids = [mine.id, theirs.id, taskId('nobody')];
    expect((await engine.admin.words(ids)).map(({ text }) => text)).toEqual(['mine', 'theirs']);
    expect((await engine.adminOf('acme').words(ids)).map(({ text }) => text)).toEqual(['theirs']);
    expect((await engine.adminOf('acme').conversations({})).conversations.map(({ words }) => words)).toEqual(['theirs']);
    await expect(engine.admin.words(Array.from({ length: 101 }, () => mine.id))).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
  });
});
