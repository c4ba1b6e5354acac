import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Store, TaskKey, Write } from '#engine';
import type { A2AError } from '#protocol';
import { isA2AError, seq, taskId } from '#protocol';
import type { SqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { ALICE, rowOf, seqOf } from '../contracts/rows.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Tmpfs } from '../support/tmpfs.ts';
import { mayMount, mountTmpfs } from '../support/tmpfs.ts';
import { entriesFor } from './entries.ts';

/** docs/faults.md E6: on a full disk writes fail with a time to retry, reads work, and the store recovers by itself. */
const OPTIONS = { ballastBytes: 2 ** 20, walBytes: 2 ** 18, walBytesMax: 2 ** 20 };

const newTask = (key: number): Write => ({
  kind: 'task',
  row: rowOf(key, { last: seqOf(40) }),
  isNew: true,
  entries: entriesFor(key, 1, 40),
});
const ending = (key: number): Write => ({
  kind: 'task',
  row: rowOf(key, { last: seqOf(41), state: 'TASK_STATE_CANCELED' }),
  isNew: false,
  entries: entriesFor(key, 41, 41),
});

async function refusalOf(store: Store, batch: readonly Write[]): Promise<A2AError | undefined> {
  try {
    await store.commit(batch);
    return undefined;
  } catch (thrown) {
    if (isA2AError(thrown) && thrown.kind === 'UNAVAILABLE') return thrown;
    throw thrown;
  }
}

/** Commits tasks until the disk is full. Returns the number of stored tasks. */
async function fillUp(store: Store): Promise<{ readonly kept: number; readonly refusal: A2AError }> {
  for (let key = 1; key < 100_000; key += 1) {
    const refusal = await refusalOf(store, [newTask(key)]);
    if (refusal !== undefined) return { kept: key - 1, refusal };
  }
  throw new Error('it is never full');
}

async function expectAll(store: Store, kept: number): Promise<void> {
  for (let key = 1; key <= kept; key += 1) {
    const row = await store.task(ALICE, taskId(`t${key}`));
    expect(row?.last).toBeGreaterThanOrEqual(40);
    expect(await store.entries(key as TaskKey, { after: seq(0), limit: 40 })).toEqual(entriesFor(key, 1, 40));
  }
}

async function within(ms: number, isSo: () => Promise<boolean>): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (await isSo()) return true;
  }
  return false;
}

async function inSmallSpace(test: (store: SqliteStore, path: string, filler: string) => Promise<void>): Promise<void> {
  const tmpfs: Tmpfs | undefined = mountTmpfs(16 * 2 ** 20);
  if (tmpfs === undefined) throw new Error('it could be mounted a moment ago');
  const path = join(tmpfs.path, 'x.db');
  const store = openSqliteStore(path, OPTIONS);
  try {
    expect(
      await within(5000, async () => (statSync(`${path}.ballast`, { throwIfNoEntry: false })?.size ?? 0) === OPTIONS.ballastBytes),
    ).toBe(true);
    const filler = join(tmpfs.path, 'filler');
    writeFileSync(filler, new Uint8Array(10 * 2 ** 20));
    await test(store, path, filler);
  } finally {
    await store.close();
    tmpfs.unmount();
  }
}

suiteNeeding('the right to mount a file system', mayMount(), 'E6: a full disk', () => {
  it('rejects writes with a time to retry, serves all stored tasks, and lets tasks finish', () =>
    inSmallSpace(async (store, path) => {
      const { kept, refusal } = await fillUp(store);
      expect(kept).toBeGreaterThan(10);
      expect(refusal.details.retryAfterMs).toBeGreaterThan(0);
      await expectAll(store, kept);
      expect(await store.count({ owner: ALICE })).toBe(kept);
      expect(existsSync(`${path}.ballast`)).toBe(false);
      // The ballast's space is for tasks that finish: retention then frees the space again.
      for (let key = 1; key <= 5; key += 1)
        expect(await within(5000, async () => (await refusalOf(store, [ending(key)])) === undefined)).toBe(true);
      expect(await store.finished()).toBe(5);
      expect(await within(5000, async () => (await refusalOf(store, [{ kind: 'forget', task: 1 as TaskKey }])) === undefined)).toBe(true);
    }));

  it('serves reads when the reserve is used up, and recovers when there is space again', () =>
    inSmallSpace(async (store, path, filler) => {
      let kept = (await fillUp(store)).kept;
      // A caller that ignores the errors uses up the reserve.
      for (let refused = 0; refused < 40; ) {
        if ((await refusalOf(store, [newTask(kept + 1)])) === undefined) kept += 1;
        else refused += 1;
      }
      await expectAll(store, kept);
      rmSync(filler);
      expect(await within(10_000, async () => (await refusalOf(store, [newTask(kept + 1)])) === undefined)).toBe(true);
      expect(await within(10_000, async () => (await refusalOf(store, [])) === undefined && existsSync(`${path}.ballast`))).toBe(true);
      for (let key = kept + 2; key < kept + 20; key += 1) await store.commit([newTask(key)]);
      await expectAll(store, kept + 19);
      await store.close();
      const again = openSqliteStore(path, OPTIONS);
      await expectAll(again, kept + 19);
      expect(again.damaged()).toEqual([]);
      await again.close();
    }));
});
