import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LogEntry, Write } from '#engine';
import type { Message, Seq } from '#protocol';
import type { SqliteStore } from '../src/engine/adapters/sqlite.ts';
import { openSqliteStore } from '../src/engine/adapters/sqlite.ts';
import { count } from './figures/figure.ts';
import { chunk, newTask } from './filled.ts';

const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));
const STEP = 1000;
export const SAID = 40;
export const VOCABULARY = 20_000;

/** The folder of a store of so many tasks with a complete search index. It is made once and kept in `.cache`. */
export async function indexedFolder(tasks: number): Promise<string> {
  await (await openIndexed(tasks)).close();
  return folderOf(tasks);
}

/** Opens this store. */
export async function openIndexed(tasks: number): Promise<SqliteStore> {
  const folder = folderOf(tasks);
  const done = join(folder, 'done');
  const path = join(folder, 'tasks.db');
  if (!existsSync(done)) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const store = openSqliteStore(path, { search: true, ballastBytes: 0 });
  if (!existsSync(done)) {
    for (let key = 1; key <= tasks; key += STEP) {
      await store.commit(Array.from({ length: Math.min(STEP, tasks - key + 1) }, (_, at) => talk(key + at)));
      // In step: otherwise the index would be made all at once, at the end.
      if (key % (20 * STEP) === 1) {
        await store.search?.settled();
        console.error(`${count(key)} of ${count(tasks)} tasks are written and indexed`);
      }
    }
    await store.search?.settled();
    await store.close();
    mkdirSync(done);
    return openSqliteStore(path, { search: true, ballastBytes: 0 });
  }
  await store.search?.settled();
  return store;
}

function folderOf(tasks: number): string {
  return join(CACHE, `bench-search-${tasks}`);
}

/** A task of 40 words, whose frequencies are those of a language: the word at rank n occurs about 1/n as often as the first. */
function talk(key: number): Write {
  const { row, first, message } = newTask(key);
  const words = Array.from({ length: SAID }, (_, at) => wordAt(rankOf(key, at))).join(' ');
  const history: Message[] = [{ ...message, parts: [{ text: words }] }];
  const entries: LogEntry[] = [
    { ...first, event: first.event.task === undefined ? first.event : { task: { ...first.event.task, history } } },
    { seq: 2 as Seq, event: chunk(row) },
  ];
  return { kind: 'task', row: { ...row, state: 'TASK_STATE_COMPLETED', last: 2 as Seq }, isNew: true, entries };
}

/** The words of a task must not depend on each other, so all bits of the key and the place are mixed. */
export function rankOf(key: number, at: number): number {
  let bits = Math.imul(key, 0x9e_37_79_b1) ^ Math.imul(at + 1, 0x85_eb_ca_6b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x7f_eb_35_2d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x84_6c_a6_8b);
  return Math.floor(VOCABULARY ** (((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32));
}

export function wordAt(rank: number): string {
  return `${'bcdfghklmnprstvw'[rank % 16]}${'aeiou'[Math.floor(rank / 16) % 5]}${rank.toString(36)}`;
}
