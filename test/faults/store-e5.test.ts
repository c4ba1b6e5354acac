import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { taskId } from '#protocol';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { ALICE } from '../contracts/rows.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Child } from '../support/processes.ts';
import { isInstalled } from '../support/tmpfs.ts';
import { startChild } from './parley.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-e5-'));
afterAll(() => rmSync(folder, { recursive: true }));

function ackedBy(child: Child): readonly string[] {
  return child.lines().filter((line) => line.startsWith('a '));
}

/** The system calls that SQLite syncs with. Which one depends on its build. */
const SYNCS = 'fsync,fdatasync';

/** Expects that every acknowledged commit is stored, and that after the error the store acknowledged and served nothing. */
async function expectStopped(path: string, inject: readonly string[]): Promise<void> {
  await openSqliteStore(path, { ballastBytes: 0 }).close();
  const child = startChild('failing', [path], ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${SYNCS}`, ...inject]);
  const { code } = await child.ended;
  expect(code, child.errors()).toBe(3);
  const lines = child.lines();
  const failed = lines.findIndex((line) => line.startsWith('x '));
  expect(lines.slice(failed)).toEqual(['x failed', 'commit failed', 'commit failed', 'read failed', 'list failed']);
  const store = openSqliteStore(path, { ballastBytes: 0 });
  for (const line of ackedBy(child)) expect((await store.task(ALICE, taskId(`t${line.slice(2)}`)))?.last).toBe(3);
  expect(store.damaged()).toEqual([]);
  await store.close();
}

suiteNeeding('strace', isInstalled('strace'), 'E5: an fsync that fails', () => {
  const failing = (when: string): readonly string[] =>
    ['fsync', 'fdatasync'].flatMap((call) => ['-e', `inject=${call}:error=EIO:when=${when}`]);
  // Also a single failure, after which SQLite alone would continue.
  for (const when of ['11', '17', '43', '200+']) {
    it(`at call ${when} of a thread`, () => expectStopped(join(folder, `${when}.db`), failing(when)));
  }
  it('in a checkpoint', () => {
    const path = join(folder, 'checkpoint.db');
    // The first sync of the main file notes that the store is in use.
    return expectStopped(path, ['-P', path, ...failing('2')]);
  });
});

suiteNeeding('strace', isInstalled('strace'), 'E4: power loss', () => {
  it('syncs between the last write to the WAL and the acknowledgement of a commit', async () => {
    const [path, trace] = [join(folder, 'sync.db'), join(folder, 'trace')];
    const calls = `trace=pwrite64,write,${SYNCS}`;
    const child = startChild('committer', [path, 'honest', '40'], ['strace', '-y', '-s', '16', '-o', trace, '-e', calls]);
    await child.ended;
    expect(ackedBy(child)).toHaveLength(40);
    let isDirty = false;
    let [acks, syncs] = [0, 0];
    for (const line of readFileSync(trace, 'utf8').split('\n')) {
      // Writes of a megabyte of zeros at the end of the file only allocate space. They are not frames.
      if (/^pwrite64\(\d+<[^>]*-wal>/.test(line) && !/, 1048576, \d+\)/.test(line)) isDirty = true;
      if (/^f(data)?sync\(\d+<[^>]*-wal>\)\s+= 0/.test(line)) {
        isDirty = false;
        syncs += 1;
      }
      if (/^write\(1<[^>]*>, "a /.test(line)) {
        expect(isDirty, line).toBe(false);
        acks += 1;
      }
    }
    expect(acks).toBe(40);
    expect(syncs).toBeGreaterThanOrEqual(40);
  });
});
