import { DatabaseSync } from 'node:sqlite';
import { seq } from '#protocol';
import { textOfTaskNow } from '../../../search/task-text.ts';
import { plainWords } from '../../../search/words.ts';
import { isDamage } from '../damage/task-errors.ts';
import { query } from '../database/statement.ts';
import { createReadLog } from '../read/log.ts';
import type { IndexEntry, IndexFile } from './index-file.ts';
import { createScopeWords } from './scope-words.ts';
import type { CommittedTask, TasksToIndex } from './unindexed-tasks.ts';
import { UnindexedTasks } from './unindexed-tasks.ts';

/** Brings the index up to date with the store. All of it runs in a thread, with a connection of its own that only reads. */
export interface Indexer {
  /** These tasks have changed. */
  touch(tasks: TasksToIndex): void;
  /** Works for a few milliseconds. Returns false if there is nothing left to do. */
  work(): boolean;
  readonly isDone: boolean;
  /** Compares every task with the index again. */
  startOver(): void;
  /** Notes that the index agrees with the store, and closes the connections. */
  close(): void;
}

interface StoredTask extends Omit<CommittedTask, 'text'> {
  readonly last: number;
}

const PAGE = 1000;
/** A commit of the index is as large as what is read in this time. Large ones cost less, but the WAL of the store can't start over meanwhile. */
const WORK_MS = 50;
const ENTRIES_MAX = 1024;

/** The newest tasks come first when the whole store is compared. */
export function createIndexer(path: string, index: IndexFile): Indexer {
  const db = new DatabaseSync(path, { readOnly: true });
  db.exec('PRAGMA busy_timeout = 2000; PRAGMA cache_size = -8192');
  const { heads, one, state } = statements(db);
  const [wordsOf, scopeWords] = [createWordsOf(db), createScopeWords()];
  const changed = new UnindexedTasks();
  let below = index.takeMark() === state.one()?.mark ? 0 : Number.MAX_SAFE_INTEGER;

  /** Compares a page of tasks, down from `below`, and notes those that differ. */
  const compare = (): void => {
    const stored = heads.all(below, PAGE);
    const lowest = stored.length < PAGE ? 0 : (stored.at(-1)?.key ?? 0);
    const known = new Map(index.between(lowest, below).map(({ key, head }) => [key, head]));
    for (const { key, head } of stored) {
      if (known.get(key) !== shortHead(head)) changed.set(key);
      known.delete(key);
    }
    for (const key of known.keys()) changed.set(key);
    below = lowest;
  };
  const write = (): void => {
    const [until, highest] = [performance.now() + WORK_MS, index.highest()];
    const [entries, gone, done]: [IndexEntry[], number[], number[]] = [[], [], []];
    // One transaction: otherwise SQLite takes and releases the locks of the file for each row.
    db.exec('BEGIN');
    for (const key of firstOf(changed.keys()).sort((left, right) => left - right)) {
      if (done.length > 0 && performance.now() > until) break;
      done.push(key);
      const task = changed.get(key) ?? one.one(key);
      const [head, known] = [shortHead(task?.head ?? ''), key > highest ? undefined : index.head(key)]; // new tasks need no look into the index
      if (task === undefined) gone.push(key);
      else if (known !== head) {
        const [scope, words] = [scopeWords(task), wordsOf(key, task)];
        entries.push({ key, isNew: known === undefined, head, statusAt: task.status_at, scope, words });
      }
    }
    db.exec('COMMIT');
    index.write(entries, gone);
    for (const key of done) changed.delete(key);
  };

  return {
    touch: (tasks) => {
      for (const [key, task] of tasks) changed.set(key, task);
    },
    work: () => {
      if (changed.size > 0) write();
      else if (below > 0) compare();
      return changed.size > 0 || below > 0;
    },
    get isDone() {
      return changed.size === 0 && below === 0;
    },
    startOver: () => {
      below = Number.MAX_SAFE_INTEGER;
    },
    close: () => {
      if (changed.size === 0 && below === 0) index.setMark(state.one()?.mark ?? '');
      db.close();
    },
  };
}

/** The words of a task, which is read unless its text was handed over. Damaged content can't be found; the task itself is reported elsewhere. */
function createWordsOf(db: DatabaseSync): (key: number, task: CommittedTask | StoredTask) => string {
  const readLog = createReadLog(db);
  return (key, task) => {
    if ('text' in task) return plainWords(task.text);
    try {
      return plainWords(textOfTaskNow(seq(task.last), (range) => readLog(key, range)));
    } catch (thrown) {
      if (isDamage(thrown)) return '';
      throw thrown;
    }
  };
}

/** What is read of the store. `mark` changes with every commit, and if another database took its place. */
function statements(db: DatabaseSync) {
  const heads = query<{ key: number; head: string }>(db, 'SELECT key, head FROM task WHERE key < ? ORDER BY key DESC LIMIT ?');
  const one = query<StoredTask>(
    db,
    `SELECT tenant, principal, agent, context, state, status_at, last, head FROM task JOIN realm ON realm.key = task.realm WHERE task.key = ?`,
  );
  const state = query<{ mark: string }>(
    db,
    `SELECT commits || ' ' || last_key || ' ' || coalesce((SELECT head FROM task ORDER BY key DESC LIMIT 1), '') AS mark FROM meta WHERE one = 1`,
  );
  return { heads, one, state };
}

function firstOf(keys: Iterable<number>): number[] {
  const first: number[] = [];
  for (const key of keys) {
    first.push(key);
    if (first.length === ENTRIES_MAX) break;
  }
  return first;
}

/** 48 bits of a hash. */
function shortHead(head: string): number {
  return Number.parseInt(head.slice(0, 12), 16);
}
