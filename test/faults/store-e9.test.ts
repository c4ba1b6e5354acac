import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, describe, expect, it } from 'vitest';
import type { LogEntry, TaskKey } from '#engine';
import { artifactId, contextId, seq, taskId } from '#protocol';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { rowOf, seqOf } from '../contracts/rows.ts';
import { expectFigure } from '../support/figures.ts';

/** docs/faults.md E9: under load the WAL stays small, and checkpoints do not block the event loop. */
const folder = mkdtempSync(join(tmpdir(), 'parley-e9-'));
afterAll(() => rmSync(folder, { recursive: true }));
const MIB = 2 ** 20;

function chunks(from: number, to: number): readonly LogEntry[] {
  const of = { taskId: taskId('t1'), contextId: contextId('c') };
  return Array.from({ length: to - from + 1 }, (_, at) => ({
    seq: seq(from + at),
    event: { artifactUpdate: { ...of, append: true, artifact: { artifactId: artifactId('a'), parts: [{ text: 'x'.repeat(2000) }] } } },
  }));
}

describe('E9: checkpoints', () => {
  it('limit the size of the WAL while commits continue, and do not block the event loop', async () => {
    const path = join(folder, 'x.db');
    const limits = { ballastBytes: 0, walBytes: 4 * MIB, walBytesMax: 16 * MIB };
    const store = openSqliteStore(path, limits);
    const STEP = 64;
    const COMMITS = 800;
    await store.commit([{ kind: 'task', row: rowOf(1, { last: seqOf(STEP) }), isNew: true, entries: chunks(1, STEP) }]);
    const loop = monitorEventLoopDelay({ resolution: 2 });
    loop.enable();
    let largest = 0;
    let waited = 0;
    for (let commit = 1; commit < COMMITS; commit += 1) {
      const last = (commit + 1) * STEP;
      const row = rowOf(1, { last: seqOf(last) });
      const done = store.commit([{ kind: 'task', row, isNew: false, entries: chunks(commit * STEP + 1, last) }]);
      if (done instanceof Promise) {
        waited += 1;
        await done;
      }
      largest = Math.max(largest, statSync(`${path}-wal`).size);
      await new Promise(setImmediate);
    }
    loop.disable();
    // About 130 MB were written.
    expect(statSync(path).size).toBeGreaterThan(80 * MIB);
    expect(largest).toBeLessThan(limits.walBytesMax + 2 * MIB);
    // Some commits wait for the end of a checkpoint, the others are synchronous, and none blocks the event loop for long.
    expect(waited).toBeGreaterThan(3);
    expect(waited).toBeLessThan(COMMITS);
    expectFigure(loop.percentile(99) / 1e6, { below: 100 });
    expect(await store.entries(1 as TaskKey, { after: seq(COMMITS * STEP - 1), limit: 10 })).toEqual(
      chunks(COMMITS * STEP, COMMITS * STEP),
    );
    await store.close();
  });
});
