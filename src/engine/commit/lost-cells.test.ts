import { describe, expect, it } from 'vitest';
import { CellsLostError, CommitUnknownError } from '#engine';
import type { Member } from '../../../test/support/cells.ts';
import { contextIn, elsewhere, pair, slow } from '../../../test/support/cells.ts';
import { AT_ONCE, ctx, gate, quiet, request, taskOf, user } from '../../../test/support/engine.ts';

describe('a commit of unknown outcome', () => {
  it('is sent again without the tasks of cells that were lost meanwhile', async () => {
    const { shared, one, two } = await pair(slow([]));
    const lost = taskOf(await one.service.send(request('a', AT_ONCE), ctx()));
    const message = user('b', { contextId: contextIn(1, shared) });
    const kept = taskOf(await one.service.send({ message, ...AT_ONCE }, ctx()));
    await quiet();
    const looked = gate<boolean>();
    one.member.failure = new CommitUnknownError(() => looked.wait);
    const config = { taskId: lost.id, url: 'https://example.com/hook' } as never;
    const results = Promise.allSettled([
      one.service.cancel({ id: lost.id }, ctx()),
      one.service.push.create(config, ctx()),
      one.service.cancel({ id: kept.id }, ctx()),
    ]);
    await quiet();
    const before = one.member.commits.length;
    shared.move(0, two.member);
    // It is back before the outcome is known: what was dropped stays dropped.
    shared.move(0, one.member);
    looked.open(false);
    const [first, second, third] = await results;
    expect(first).toMatchObject({ status: 'rejected', reason: elsewhere(0) });
    expect(second).toMatchObject({ status: 'rejected', reason: elsewhere(0) });
    expect(third).toMatchObject({ status: 'fulfilled', value: { status: { state: 'TASK_STATE_CANCELED' } } });
    await quiet();
    const written = one.member.commits.slice(before).flat();
    expect(written.filter((write) => write.kind === 'push')).toEqual([]);
    expect((await one.service.get({ id: lost.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
  });

  it('is over for tasks whose process was replaced before the outcome was known', async () => {
    const { shared, one, two } = await pair(slow([]));
    one.member.failure = new CommitUnknownError(async () => {
      shared.move(0, two.member);
      throw new CellsLostError([0, 1, 2, 3]);
    });
    await expect(one.service.send(request('a'), ctx())).rejects.toMatchObject(elsewhere(0));
    await quiet();
    expect(one.engine.stats()).toMatchObject({ isBroken: false, isStalled: false, liveTasks: 0 });
    expect((await two.service.list({}, ctx())).totalSize).toBe(0);
  });
});

describe('a process that was replaced and gets a new number', () => {
  /** The process has no number until it is `back`. */
  const without = (member: Member): { refused: number; back: boolean } => {
    const seen = { refused: 0, back: false };
    Object.defineProperty(member, 'failure', {
      get: () => {
        if (seen.back) return undefined;
        seen.refused += 1;
        return new CellsLostError([]);
      },
      set: () => {},
    });
    return seen;
  };

  it('refuses no request in the moment in which it has none', async () => {
    const { one } = await pair();
    const seen = without(one.member);
    const sent = one.service.send(request('a'), ctx());
    await quiet(50);
    expect(one.engine.stats()).toMatchObject({ isStalled: false });
    seen.back = true;
    await one.time.advance(200);
    expect(taskOf(await sent).status.state).toBe('TASK_STATE_COMPLETED');
    expect(seen.refused).toBe(1);
  });

  it('refuses requests with a time to retry if it gets none', async () => {
    const { one } = await pair();
    const seen = without(one.member);
    const sent = one.service.send(request('a'), ctx());
    const refused = expect(sent).rejects.toMatchObject({ kind: 'UNAVAILABLE', details: { retryAfterMs: 1000 } });
    for (let at = 0; at < 5; at += 1) {
      await quiet(50);
      await one.time.advance(200);
    }
    await refused;
    expect(one.engine.stats()).toMatchObject({ isStalled: true });
    seen.back = true;
    await one.time.advance(1000);
    expect(one.engine.stats()).toMatchObject({ isBroken: false, isStalled: false });
  });
});
