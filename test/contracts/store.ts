import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store, TaskKey } from '#engine';
import { contextId, externalId, taskId } from '#protocol';
import type { Check } from './check.ts';
import { namesContract, namesIn } from './names.ts';
import { anOutbox, outboxContract } from './outbox.ts';
import { ALICE, aPush, aSend, aTask, entriesOf, rowOf, seqOf } from './rows.ts';
import { found, saying, searchContract } from './search.ts';
import { storeModel } from './store-model.ts';
import { lists, logs, owners } from './store-reads.ts';
import { besides, commits, leaving } from './store-writes.ts';

/** A store under test. */
export interface StoreContract {
  readonly name: string;
  readonly open: () => Store | Promise<Store>;
  /** Closes the store and opens it again. Absent if the store is not durable. */
  readonly reopen?: (store: Store) => Store | Promise<Store>;
  /** How many random histories to compare with the model. Default 60. */
  readonly histories?: number;
}

/** The tests that every store must pass. */
export function storeContract({ name, open, reopen, histories = 60 }: StoreContract): void {
  const check: Check = (test, run) => {
    it(test, () => run(store));
  };
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(async () => {
    await store.close();
  });

  describe(`the store contract: ${name}`, () => {
    commits(check);
    owners(check);
    lists(check);
    logs(check);
    besides(check);
    leaving(check);
    outboxContract(check);
    searchContract(check);
    namesContract(check);
    if (reopen !== undefined) testReopen(reopen);
    storeModel(() => store, histories);
  });

  function testReopen(reopenStore: NonNullable<StoreContract['reopen']>): void {
    check('keeps everything across close and open', async () => {
      await store.commit([aTask(1, { alias: externalId('thread') }, 3), aSend(1), aPush(1, 'p'), anOutbox(5, 1, 'p')]);
      await namesIn(store).put({ owner: ALICE, contextId: contextId('c'), name: 'the first one' });
      const before = await everythingOf(store);
      store = await reopenStore(store);
      expect(await everythingOf(store)).toEqual(before);
      await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(4) }), isNew: false, entries: entriesOf(4, 4) }]);
    });

    check('finds after a restart what was committed before', async () => {
      await store.commit([saying(1, 'early words')]);
      expect(await found(store, 'early')).toEqual([1]);
      await store.commit([saying(2, 'late words'), { kind: 'forget', task: 1 as TaskKey }]);
      store = await reopenStore(store);
      expect(await found(store, 'words')).toEqual([2]);
      store = await reopenStore(store);
      await store.commit([saying(3, 'later words')]);
      expect(await found(store, 'words')).toEqual([3, 2]);
    });
  }
}

async function everythingOf(store: Store): Promise<unknown> {
  return {
    last: await store.lastKey(),
    row: await store.task('any', taskId('t1')),
    entries: await store.entries(1 as TaskKey, { after: seqOf(0), limit: 100 }),
    words: await store.entries(1 as TaskKey, { after: seqOf(0), limit: 100, only: 'words' }),
    alias: await store.byAlias(ALICE, 'echo', externalId('thread')),
    send: await store.send({ owner: ALICE, agent: 'echo', token: 'id m1' }),
    pushes: await store.pushConfigs(1 as TaskKey),
    outbox: [await store.outbox({ limit: 10 }), await store.outboxStats()],
    list: await store.list({ owner: ALICE, agent: 'echo', limit: 10 }),
    unfinished: await store.unfinished(),
    names: await namesIn(store).within('any'),
  };
}
