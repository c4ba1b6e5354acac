import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreError, troubleOf } from '../../shared/store-error.ts';
import { rollBack } from '../database/connection.ts';
import { query } from '../database/statement.ts';

/**
 * Lets only one process open a store. The lock file is a database of its own. It names the holder
 * (process id and start time), and the holder keeps a write transaction open in it. The operating
 * system ends the transaction when the process dies, so there are no stale locks: the process id is
 * only shown, never trusted, and two processes that start at once can't both get the lock.
 */
export interface StoreLock {
  release(): void;
}

interface Holder {
  readonly pid: number;
  readonly started: string;
}

const ATTEMPTS = 3;

/** Takes the lock, or throws a StoreError that names the process that holds it. */
export function lockStore(path: string): StoreLock {
  const file = `${path}.lock`;
  const db = openLock(file);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      begin(db, path);
      const me: Holder = { pid: process.pid, started: startOf(process.pid) };
      db.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, started TEXT)');
      const { pid, started } = holderOf(db) ?? { pid: 0, started: '' };
      // The transaction that stays open must write nothing: the next holder would have to roll it back.
      if (pid === me.pid && started === me.started) return { release: () => db.close() };
      if (!isRecorded(db, me)) {
        // The disk is full. The lock itself needs no space; only its error message can't name this process.
        begin(db, path);
        return { release: () => db.close() };
      }
    }
    throw new StoreError('locked', `${path} is being opened by other processes at this moment`);
  } catch (thrown) {
    db.close();
    throw thrown instanceof StoreError ? thrown : new StoreError('failed', `the lock file ${file} can't be written`, thrown);
  }
}

/** Writes the name of the holder. Returns false if the disk is full. */
function isRecorded(db: DatabaseSync, { pid, started }: Holder): boolean {
  try {
    db.exec('DELETE FROM holder');
    db.prepare('INSERT INTO holder (pid, started) VALUES (?, ?)').run(pid, started);
    db.exec('COMMIT');
    return true;
  } catch (thrown) {
    if (troubleOf(thrown) !== 'full') throw thrown;
    rollBack(db);
    return false;
  }
}

/** Opens the lock file, and creates it if it does not exist. */
function openLock(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file);
  } catch (thrown) {
    throw new StoreError(
      'read-only',
      `the lock file ${file} can't be opened: does the folder exist, and may this process write to it?`,
      thrown,
    );
  }
}

/** Takes the write lock of the lock file without waiting for a holder. */
function begin(db: DatabaseSync, path: string): void {
  try {
    // A holder keeps the lock until it ends, so do not wait for it. Processes that only read the holder's name finish soon: wait for those.
    db.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; PRAGMA busy_timeout = 2000');
  } catch (thrown) {
    const trouble = troubleOf(thrown);
    if (trouble === 'busy')
      throw new StoreError('locked', `${path} is in use by ${name(holderOf(db))}. Only one process can use it at a time`, thrown);
    if (trouble === 'corrupt')
      throw new StoreError('foreign', `${path}.lock is not a lock file of Parley. If no process uses the store, delete it`, thrown);
    throw new StoreError('read-only', `${path}.lock can't be written`, thrown);
  }
}

function name(holder: Holder | undefined): string {
  return holder === undefined ? 'another process' : `process ${holder.pid}`;
}

function holderOf(db: DatabaseSync): Holder | undefined {
  try {
    return query<Holder>(db, 'SELECT pid, started FROM holder').one();
  } catch {
    return undefined;
  }
}

/**
 * Linux has the exact start of a process, in clock ticks since boot. Elsewhere it is computed from the
 * uptime.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${ticks} ticks after boot ${boot}`;
  } catch {
    return new Date(Date.now() - process.uptime() * 1000).toISOString();
  }
}
