import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store, TaskRow } from '#engine';
import { seq } from '#protocol';
import type { SqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { isDamage, openSqliteStore, StoreError } from '../../src/engine/adapters/sqlite.ts';
import { ALICE } from '../contracts/rows.ts';
import { entriesFor } from './entries.ts';
import { startChild } from './parley.ts';
import { msFor, times } from './size.ts';

/**
 * docs/faults.md E7: bits flipped, sectors zeroed, files truncated, in the WAL and in the main file. All damage is detected, and
 * undamaged tasks are served unchanged. A shortened history is never served as a complete one.
 */
const folder = mkdtempSync(join(tmpdir(), 'parley-e7-'));
afterAll(() => rmSync(folder, { recursive: true }));

const OPTIONS = { ballastBytes: 0 };
const FILES = ['', '-wal', '.marks'] as const;
const SECTOR = 512;

/** The files of a store after a crash, and its content. */
interface Base {
  readonly name: string;
  readonly path: string;
  readonly rows: readonly TaskRow[];
  readonly walUsed: number;
}

/** All data in the WAL; or part in the main file and part in the WAL; or, after a clean close, all in the main file. */
async function makeBase(name: string, commits: readonly number[], isClosed: boolean): Promise<Base> {
  const path = join(folder, `${name}.db`);
  for (const [at, count] of commits.entries()) {
    if (at > 0) await openSqliteStore(path, OPTIONS).close();
    await startChild('committer', [path, 'honest', String(count)]).ended;
  }
  const copy = join(folder, `${name}-copy.db`);
  if (isClosed) await openSqliteStore(path, OPTIONS).close();
  copyBase(path, copy);
  const store = openSqliteStore(copy, OPTIONS);
  const rows = await store.list({ owner: 'any', limit: 100_000 });
  await store.close();
  return { name, path, rows, walUsed: isClosed ? 0 : usedOf(`${path}-wal`) };
}

function copyBase(from: string, to: string): void {
  for (const end of ['', '-wal', '-shm', '.marks', '.lock']) rmSync(to + end, { force: true });
  for (const end of FILES) if (statSync(from + end, { throwIfNoEntry: false }) !== undefined) copyFileSync(from + end, to + end);
}

/** The used length: the file is allocated ahead of use. */
function usedOf(wal: string): number {
  const bytes = readFileSync(wal);
  let used = bytes.length;
  while (used > 0 && bytes[used - 1] === 0) used -= 1;
  return used;
}

type Damage = 'flip' | 'zero' | 'cut' | 'noise';
const DAMAGES: readonly Damage[] = ['flip', 'zero', 'cut', 'noise'];

function damage(path: string, length: number, how: Damage, random: () => number): void {
  const at = Math.floor(random() * length);
  if (how === 'cut') {
    truncateSync(path, at);
    return;
  }
  const bytes = readFileSync(path);
  if (how === 'flip') bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << Math.floor(random() * 8)), at);
  else {
    const start = at - (at % SECTOR);
    for (let each = start; each < Math.min(start + SECTOR, bytes.length); each += 1)
      bytes[each] = how === 'zero' ? 0 : Math.floor(random() * 256);
  }
  writeFileSync(path, bytes);
}

type Outcome = 'intact' | 'refused' | 'quarantined';

/** Throws if the store served changed data, or lost data without an error. */
async function look(base: Base, path: string): Promise<Outcome> {
  let store: SqliteStore;
  try {
    store = openSqliteStore(path, OPTIONS);
  } catch (thrown) {
    if (thrown instanceof StoreError && ['damaged', 'foreign', 'newer', 'missing'].includes(thrown.fault)) return 'refused';
    throw thrown;
  }
  try {
    await store.verified;
    let damaged = 0;
    for (const row of base.rows) if (!(await isServed(store, row))) damaged += 1;
    const { length } = await store.list({ owner: 'any', limit: 100_000 });
    expect(length).toBeGreaterThanOrEqual(base.rows.length - damaged);
    expect(length).toBeLessThanOrEqual(base.rows.length);
    return damaged === 0 ? 'intact' : 'quarantined';
  } finally {
    await store.close();
  }
}

/** True: unchanged. False: rejected as damaged. Anything else fails the test. */
async function isServed(store: Store, row: TaskRow): Promise<boolean> {
  try {
    expect(await store.task(ALICE, row.id)).toEqual(row);
    expect(await store.entries(row.key, { after: seq(0), limit: 100_000 })).toEqual(entriesFor(row.key, 1, row.last));
    const words = entriesFor(row.key, 1, row.last).filter((entry) => entry.event.artifactUpdate === undefined);
    expect(await store.entries(row.key, { after: seq(0), limit: 100_000, only: 'words' })).toEqual(words);
    expect((await store.send({ owner: ALICE, agent: 'echo', token: `id m${row.key}` }))?.task?.key).toBe(row.key);
    return true;
  } catch (thrown) {
    if (isDamage(thrown)) return false;
    throw thrown;
  }
}

/** The control: whether a program that trusts SQLite sees less data than there was, without an error. */
function isSilent(base: Base, path: string): boolean {
  try {
    const db = new DatabaseSync(path);
    const rows = db.prepare('SELECT id, last FROM task').all();
    const segments = db.prepare('SELECT words, chunks FROM log').all();
    db.close();
    const entries = segments.flatMap((each) =>
      [each['words'], each['chunks']].flatMap((json) => (typeof json === 'string' ? JSON.parse(json) : [])),
    );
    return rows.length < base.rows.length || entries.length < base.rows.reduce((sum, row) => sum + row.last, 0);
  } catch {
    return false;
  }
}

/** Mulberry32 random numbers: a case can be repeated by its number. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

describe('E7: a damaged file', () => {
  const cases = times(36, 600);
  let bases: readonly Base[] = [];
  beforeAll(async () => {
    bases = [await makeBase('wal', [80], false), await makeBase('mixed', [80, 40], false), await makeBase('main', [120], true)];
  });

  it(`is detected or harmless, in ${cases} cases of ${cases}`, { timeout: msFor(cases, 2000) }, async () => {
    const outcomes: Record<Outcome, number> = { intact: 0, refused: 0, quarantined: 0 };
    let silent = 0;
    const at = join(folder, 'case.db');
    for (let number = 0; number < cases; number += 1) {
      const random = randomFrom(number);
      const base = bases[number % bases.length];
      if (base === undefined) throw new Error('no base');
      const how = DAMAGES[Math.floor(number / bases.length) % DAMAGES.length] ?? 'flip';
      const isWal = base.walUsed > 0 && (base.name === 'wal' || random() < 0.5);
      copyBase(base.path, at);
      damage(at + (isWal ? '-wal' : ''), isWal ? base.walUsed : statSync(at).size, how, random);
      const control = join(folder, 'control.db');
      copyBase(at, control);
      if (isSilent(base, control)) silent += 1;
      const outcome = await look(base, at).catch((thrown: unknown) => {
        throw new Error(`case ${number}: ${how} in ${base.name}${isWal ? '-wal' : ''}`, { cause: thrown });
      });
      outcomes[outcome] += 1;
      // The second open must report the same: the first must not have hidden the damage.
      if (outcome !== 'intact') expect(await look(base, at)).not.toBe('intact');
    }
    process.stdout.write(`${JSON.stringify(outcomes)}; SQLite alone would have said nothing ${silent} times\n`);
    expect(outcomes.refused + outcomes.quarantined).toBeGreaterThan(cases / 4);
    expect(outcomes.quarantined).toBeGreaterThan(0);
    // The control: without checks, many cases would be served as a shorter history.
    expect(silent).toBeGreaterThan(cases / 10);
  });

  it('is detected if a text reads as null, which the definition of its table forbids', async () => {
    const at = join(folder, 'null.db');
    for (const [table, column] of [
      ['send', 'token'],
      ['realm', 'tenant'],
      ['task', 'id'],
    ] as const) {
      const base = bases.find(({ name }) => name === 'main');
      if (base === undefined) throw new Error('no base');
      copyBase(base.path, at);
      setNull(at, table, column);
      expect(await look(base, at).catch((thrown: unknown) => thrown), table).toBe('refused');
    }
  });
});

/** Writes nulls into a column, as zeroed bytes of a record can, and leaves the definition of the table as it was. */
function setNull(path: string, table: string, column: string): void {
  const define = (from: string, to: string): void => {
    const db = new DatabaseSync(path);
    db.enableDefensive(false);
    db.exec('PRAGMA writable_schema = ON');
    db.prepare('UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?').run(from, to, table);
    db.close();
  };
  const [strict, loose] = [`${column} TEXT NOT NULL`, `${column} TEXT /*no nul*/`];
  define(strict, loose);
  const db = new DatabaseSync(path);
  db.exec(`UPDATE ${table} SET ${column} = NULL WHERE rowid = (SELECT max(rowid) FROM ${table})`);
  db.close();
  define(loose, strict);
}
