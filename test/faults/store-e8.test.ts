import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { taskId } from '#protocol';
import type { AcceptedLoss, SqliteOptions, StoreFault } from '../../src/engine/adapters/sqlite.ts';
import { openSqliteStore, StoreError } from '../../src/engine/adapters/sqlite.ts';
import { ALICE, aTask } from '../contracts/rows.ts';
import { suiteNeeding } from '../support/needs.ts';
import { mayMount, mountTmpfs } from '../support/tmpfs.ts';
import { startChild } from './parley.ts';

/** docs/faults.md E8 and B10: the error of a store that can't be opened says what to do, and the files stay unchanged. */
const folder = mkdtempSync(join(tmpdir(), 'parley-e8-'));
afterAll(() => rmSync(folder, { recursive: true }));
const OPTIONS: SqliteOptions = { ballastBytes: 0 };

let made = 0;
function freshPath(): string {
  made += 1;
  return join(folder, `${made}.db`);
}

/** A store with one task, closed. */
async function freshStore(): Promise<string> {
  const path = freshPath();
  const store = openSqliteStore(path, OPTIONS);
  await store.commit([aTask(1, {}, 3)]);
  await store.close();
  return path;
}

/** The same after a crash: with a WAL. */
async function crashedStore(): Promise<string> {
  const path = freshPath();
  await startChild('committer', [path, 'honest', '3']).ended;
  return path;
}

function refusal(path: string, options: SqliteOptions = OPTIONS): StoreError {
  try {
    openSqliteStore(path, options);
  } catch (thrown) {
    if (thrown instanceof StoreError) return thrown;
    throw thrown;
  }
  throw new Error('it was opened');
}

interface Case {
  readonly what: string;
  readonly fault: StoreFault;
  readonly says: RegExp;
  readonly options?: SqliteOptions;
  /** Returns the path. */
  readonly prepare: () => Promise<string> | string;
}

const CASES: readonly Case[] = [
  { what: 'no file with `create: false`', fault: 'missing', says: /does not exist/, options: { create: false }, prepare: freshPath },
  {
    what: 'no database, but its WAL and marks',
    fault: 'missing',
    says: /is missing, but .*-wal and .*marks belong to it/,
    prepare: async () => {
      const path = await crashedStore();
      rmSync(path);
      return path;
    },
  },
  {
    what: 'a copy of the main file of a store in use, without its WAL',
    fault: 'damaged',
    says: /a copy of a database that was in use.*--accept-loss/,
    prepare: async () => {
      const path = await crashedStore();
      const copy = freshPath();
      copyFileSync(path, copy);
      return copy;
    },
  },
  {
    what: 'no database, but its marks',
    fault: 'missing',
    says: /is missing/,
    prepare: async () => {
      const path = await freshStore();
      rmSync(path);
      return path;
    },
  },
  {
    what: 'an empty file in place of a store',
    fault: 'missing',
    says: /is missing/,
    prepare: async () => {
      const path = await freshStore();
      writeFileSync(path, '');
      return path;
    },
  },
  {
    what: 'a text file',
    fault: 'foreign',
    says: /is not a SQLite database/,
    prepare: () => {
      const path = freshPath();
      writeFileSync(path, 'dear diary, '.repeat(1000));
      return path;
    },
  },
  {
    what: 'a folder',
    fault: 'foreign',
    says: /is not a file/,
    prepare: () => {
      const path = freshPath();
      mkdirSync(path);
      return path;
    },
  },
  {
    what: 'another program’s database',
    fault: 'foreign',
    says: /another program/,
    prepare: () => {
      const path = freshPath();
      const db = new DatabaseSync(path);
      db.exec('PRAGMA journal_mode = wal; CREATE TABLE theirs (a)');
      db.close();
      return path;
    },
  },
  {
    what: 'a later version',
    fault: 'newer',
    says: /version 99, but this program supports versions up to \d+: use/,
    prepare: async () => {
      const path = await freshStore();
      change(path, 'PRAGMA user_version = 99');
      return path;
    },
  },
  {
    what: 'tables that differ from this version',
    fault: 'damaged',
    says: /definitions of the tables/,
    prepare: async () => {
      const path = await freshStore();
      change(path, 'DROP INDEX task_alias');
      return path;
    },
  },
  { what: 'a missing folder', fault: 'read-only', says: /does the folder exist/, prepare: () => join(folder, 'nowhere', 'x.db') },
  {
    what: 'a lock file of another program',
    fault: 'foreign',
    says: /not a lock file of Parley.*delete it/,
    prepare: async () => {
      const path = await freshStore();
      writeFileSync(`${path}.lock`, 'x'.repeat(8192));
      return path;
    },
  },
  {
    what: 'marks of another store',
    fault: 'damaged',
    says: /belongs to another store/,
    prepare: async () => {
      const path = await freshStore();
      copyFileSync(`${await freshStore()}.marks`, `${path}.marks`);
      return path;
    },
  },
  {
    what: 'an older copy of the database',
    fault: 'damaged',
    says: /holds 1 commits, but held 2 before/,
    prepare: async () => {
      const path = await freshStore();
      copyFileSync(path, `${path}.backup`);
      const store = openSqliteStore(path, OPTIONS);
      await store.commit([aTask(2, {}, 1)]);
      await store.close();
      copyFileSync(`${path}.backup`, path);
      return path;
    },
  },
  {
    what: 'a WAL without marks',
    fault: 'damaged',
    says: /marks is missing or unreadable/,
    prepare: async () => {
      const path = await crashedStore();
      rmSync(`${path}.marks`);
      return path;
    },
  },
];

function change(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

describe('E8: a store that can’t be opened', () => {
  for (const { what, fault, says, options, prepare } of CASES) {
    it(what, async () => {
      const path = await prepare();
      const before = existsSync(path) && fault !== 'damaged' && what !== 'a folder' ? readFileSync(path) : undefined;
      const thrown = refusal(path, { ...OPTIONS, ...options });
      expect(thrown.fault).toBe(fault);
      expect(thrown.message).toMatch(says);
      if (before !== undefined) expect(readFileSync(path).equals(before)).toBe(true);
      // A second attempt fails in the same way: the first must not have changed anything.
      expect(refusal(path, { ...OPTIONS, ...options }).fault).toBe(fault);
    });
  }

  it('opens an older copy if the operator accepts the loss, and does not report it again', async () => {
    const path = await CASES.find(({ what }) => what === 'an older copy of the database')?.prepare();
    const losses: AcceptedLoss[] = [];
    const store = openSqliteStore(path ?? '', { ...OPTIONS, acceptLoss: true, onAcceptedLoss: (loss) => losses.push(loss) });
    expect(losses).toEqual([{ missing: [expect.stringMatching(/holds 1 commits, but held \d+ before/)], since: expect.any(Date) }]);
    expect(await store.task(ALICE, taskId('t1'))).toBeDefined();
    expect(await store.task(ALICE, taskId('t2'))).toBeUndefined();
    await store.commit([aTask(2, {}, 1)]);
    await store.close();
    await openSqliteStore(path ?? '', OPTIONS).close();
  });
});

describe('B10: two processes on one store', () => {
  it('the second gets an error that names the first; the lock ends when the first is killed', async () => {
    const path = freshPath();
    const holder = startChild('committer', [path, 'honest']);
    await holder.said('a ');
    const thrown = refusal(path);
    expect(thrown.fault).toBe('locked');
    expect(thrown.message).toContain(`is in use by process ${holder.process.pid}. Only one`);
    holder.process.kill('SIGKILL');
    await holder.ended;
    await openSqliteStore(path, OPTIONS).close();
  });

  it('a second open in the same process fails too', async () => {
    const path = await freshStore();
    const store = openSqliteStore(path, OPTIONS);
    expect(refusal(path).message).toContain(`process ${process.pid}`);
    // The failed attempt must not release the lock of the first.
    expect(refusal(path).fault).toBe('locked');
    await store.close();
    await openSqliteStore(path, OPTIONS).close();
  });

  it('exactly one of several processes that start at once gets the lock', async () => {
    const path = await freshStore();
    const children = Array.from({ length: 4 }, () => startChild('committer', [path, 'honest']));
    const states = await Promise.all(
      children.map((child) => Promise.race([child.said('a ').then(() => 'open'), child.ended.then(() => child.errors())])),
    );
    expect(states.filter((state) => state === 'open')).toHaveLength(1);
    expect(
      states.filter((state) => /StoreError: .* is (in use by|being opened by other)/.test(state)),
      states.join('\n'),
    ).toHaveLength(3);
    for (const child of children) child.process.kill('SIGKILL');
    await Promise.all(children.map((child) => child.ended));
  });
});

suiteNeeding('the right to mount a file system', mayMount(), 'E8: a read-only disk', () => {
  it('is rejected as read-only', async () => {
    const tmpfs = mountTmpfs(8 * 2 ** 20);
    if (tmpfs === undefined) throw new Error('it could be mounted a moment ago');
    try {
      const path = join(tmpfs.path, 'x.db');
      await openSqliteStore(path, OPTIONS).close();
      tmpfs.setReadOnly(true);
      expect(refusal(path).fault).toBe('read-only');
      tmpfs.setReadOnly(false);
      await openSqliteStore(path, OPTIONS).close();
    } finally {
      tmpfs.unmount();
    }
  });
});
