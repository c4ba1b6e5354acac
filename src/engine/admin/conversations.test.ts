import { describe, expect, it } from 'vitest';
import type { TaskId } from '#protocol';
import { contextId, taskId } from '#protocol';
import { agent, BOB, ctx, echo, request, said, taskOf, world } from '../../../test/support/engine.ts';

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
    const alone = await engine.admin.conversations({ contextId: contextId(other.contextId ?? '') });
    expect(alone).toEqual({ conversations: [conversations[1]], nextPageToken: '' });
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

  it('shows data only of messages without text', async () => {
    const { service, engine } = await world(echo);
    const { message } = request('bees');
    const both = taskOf(await service.send({ message: { ...message, parts: [{ text: 'bees' }, { data: { text: 'bees' } }] } }, ctx()));
    const alone = taskOf(await service.send({ message: { ...request('').message, parts: [{ data: { season: 'spring' } }] } }, ctx()));
    expect((await engine.admin.words([both.id, alone.id])).map(({ text }) => text)).toEqual(['bees', '{"season":"spring"}']);
  });

  it('tells why tasks failed', async () => {
    const { service, engine } = await world(
      agent(async function* ({ message }) {
        if (message.parts[0]?.text === 'no') yield { kind: 'reject', reason: said('not\n today') };
        else if (message.parts[0]?.text === 'go') yield { kind: 'fail', reason: said('the  disk is full') };
      }),
    );
    const ids: TaskId[] = [];
    for (const text of ['go', 'no', 'yes']) ids.push(taskOf(await service.send(request(text), ctx())).id);
    const [failed, rejected, done] = await engine.admin.words(ids);
    expect([failed?.cause, rejected?.cause, done?.cause]).toEqual(['the disk is full', 'not today', undefined]);
  });

  it('names a conversation, finds it by its name, and forgets the name with the last task', async () => {
    const { service, engine } = await world(echo);
    const task = taskOf(await service.send(request('Where is the report?'), ctx()));
    const id = contextId(task.contextId ?? '');
    const named = await engine.admin.rename({ contextId: id, name: '  Quarterly\n report ' });
    expect(named).toMatchObject({ contextId: id, name: 'Quarterly report', words: 'Where is the report?' });
    expect((await engine.admin.conversations({})).conversations).toEqual([named]);
    expect((await engine.admin.conversations({ name: 'QUARTER' })).conversations).toEqual([named]);
    expect((await engine.admin.conversations({ name: 'quarter', contextId: id })).conversations).toEqual([named]);
    expect((await engine.admin.conversations({ name: 'quarter', contextId: contextId('other') })).conversations).toEqual([]);
    expect((await engine.admin.conversations({ name: 'where' })).conversations).toEqual([]);
    expect((await engine.admin.exportData({ principal: 'alice' })).conversationNames).toEqual([
      { contextId: id, name: 'Quarterly report' },
    ]);
    expect(await engine.admin.rename({ contextId: id, name: ' ' })).not.toHaveProperty('name');
    await engine.admin.rename({ contextId: id, name: 'Again' });
    const again = request('And the next?');
    const second = taskOf(await service.send({ ...again, message: { ...again.message, contextId: id } }, ctx()));
    await engine.admin.delete(task.id);
    expect((await engine.admin.conversations({})).conversations).toMatchObject([{ name: 'Again', words: 'And the next?' }]);
    await engine.admin.delete(second.id);
    expect((await engine.admin.exportData({ principal: 'alice' })).conversationNames).toBeUndefined();
  });

  it('names conversations of its own tenant only, and one caller’s at a time', async () => {
    const { service, engine } = await world(echo);
    const shared = contextId('shared');
    const say = request('hello');
    const inShared = { ...say, message: { ...say.message, contextId: shared } };
    await service.send(inShared, ctx());
    await service.send(inShared, ctx({ principal: BOB, tenant: 'acme' as never }));
    await expect(engine.admin.rename({ contextId: shared, name: 'x' })).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    await expect(engine.admin.rename({ contextId: contextId('no'), name: 'x' })).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    await expect(engine.adminOf('other').rename({ contextId: shared, name: 'x' })).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    await expect(engine.admin.rename({ contextId: shared, name: 'x'.repeat(121) })).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    await engine.admin.rename({ contextId: shared, principal: 'alice', name: 'Alice’s' });
    expect(await engine.adminOf('acme').rename({ contextId: shared, name: 'Bob’s' })).toMatchObject({ principal: 'bob', name: 'Bob’s' });
    expect((await engine.admin.conversations({})).conversations.map(({ name }) => name).sort()).toEqual(['Alice’s', 'Bob’s']);
    expect((await engine.adminOf('acme').conversations({ name: 's' })).conversations).toHaveLength(1);
    await engine.admin.erase({ principal: 'alice' });
    expect((await engine.admin.conversations({ name: 's' })).conversations.map(({ name }) => name)).toEqual(['Bob’s']);
  });
});
