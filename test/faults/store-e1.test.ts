import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogEntry, Store, TaskKey } from '#engine';
import { seq, taskId } from '#protocol';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { ALICE } from '../contracts/rows.ts';
import { entriesFor } from './entries.ts';
import { startChild } from './parley.ts';
import { msFor, times } from './size.ts';

/** docs/faults.md E1 for the store alone: after SIGKILL at any moment, every acknowledged commit is stored, and no log has a gap. */
const folder = mkdtempSync(join(tmpdir(), 'parley-e1-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => startChild('committer', ['', 'warm']).ended);

interface Kill {
  /** The last sequence number that the child acknowledged, by task. */
  readonly acked: ReadonlyMap<number, number>;
  /** The child was killed during a commit. */
  readonly isInside: boolean;
}

async function killOne(path: string, how: 'honest' | 'lie'): Promise<Kill> {
  const child = startChild('committer', [path, how]);
  await child.said('a ');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
  child.process.kill('SIGKILL');
  await child.ended;
  const acked = new Map<number, number>();
  for (const line of child.lines()) {
    for (const [key = '', last = ''] of line.startsWith('a ')
      ? line
          .slice(2)
          .split(' ')
          .map((each) => each.split(':'))
      : []) {
      if (key !== '') acked.set(Number(key), Number(last));
    }
  }
  return { acked, isInside: child.lines().at(-1) === 'b' };
}

interface Found {
  readonly lost: number;
  readonly gaps: number;
}

async function compare(store: Store, acked: ReadonlyMap<number, number>): Promise<Found> {
  let [lost, gaps] = [0, 0];
  for (const [key, last] of acked) {
    const row = await store.task(ALICE, taskId(`t${key}`));
    lost += Math.max(0, last - (row?.last ?? 0));
    if (row === undefined) continue;
    const entries: readonly LogEntry[] = await store.entries(key as TaskKey, { after: seq(0), limit: 100_000 });
    if (JSON.stringify(entries) !== JSON.stringify(entriesFor(key, 1, row.last))) gaps += 1;
    const send = await store.send({ owner: ALICE, agent: 'echo', token: `id m${key}` });
    if (send?.task?.key !== key) lost += 1;
  }
  return { lost, gaps };
}

async function killMany(
  name: string,
  how: 'honest' | 'lie',
  kills: number,
): Promise<Found & { readonly acks: number; readonly inside: number }> {
  const path = join(folder, name);
  const all = new Map<number, number>();
  let found: Found = { lost: 0, gaps: 0 };
  let inside = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const { acked, isInside } = await killOne(path, how);
    for (const [key, last] of acked) all.set(key, last);
    if (isInside) inside += 1;
    const store = openSqliteStore(path, { ballastBytes: 0 });
    const now = await compare(store, kill === kills - 1 ? all : acked);
    found = { lost: found.lost + now.lost, gaps: found.gaps + now.gaps };
    // Losses of the control are counted once, not again after the next kill.
    if (now.lost > 0) all.clear();
    expect(store.damaged()).toEqual([]);
    await store.close();
  }
  const acks = [...all.values()].reduce((sum, last) => sum + last, 0);
  return { ...found, acks, inside };
}

describe('E1: SIGKILL while the store commits', () => {
  const kills = times(20, 1000);
  it(`loses nothing in ${kills} kills`, { timeout: msFor(kills, 5000) }, async () => {
    const lanes = await Promise.all(['a.db', 'b.db'].map((name) => killMany(name, 'honest', kills / 2)));
    const sum = (what: 'lost' | 'gaps' | 'acks' | 'inside') => lanes.reduce((total, lane) => total + lane[what], 0);
    expect({ lost: sum('lost'), gaps: sum('gaps') }).toEqual({ lost: 0, gaps: 0 });
    expect(sum('acks')).toBeGreaterThan(kills * times(1, 10));
    expect(sum('inside')).toBeGreaterThan(times(0, 0.3 * kills));
  });

  it('finds losses in a control that acknowledges before it commits', { timeout: 300_000 }, async () => {
    // A kill loses something only if it comes between an answer and its commit.
    let found: Found = { lost: 0, gaps: 0 };
    for (let round = 1; found.lost === 0 && round <= 8; round += 1) found = await killMany(`liar-${round}.db`, 'lie', 12);
    expect(found.lost).toBeGreaterThan(0);
    expect(found.gaps).toBe(0);
  });
});
