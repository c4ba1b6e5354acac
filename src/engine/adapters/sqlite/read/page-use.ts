import type { DatabaseSync } from 'node:sqlite';
import type { AdminStoreBytes } from '#protocol';
import { readPragma } from '../database/connection.ts';

/** What the pages of the database hold, in bytes. */
export type PageUse = Pick<AdminStoreBytes, 'tasks' | 'events' | 'conversations' | 'idempotency' | 'push' | 'other' | 'free'>;

const KINDS: readonly (readonly [RegExp, Exclude<keyof PageUse, 'free' | 'other'>])[] = [
  [/^task_context$/, 'conversations'],
  [/^(?:task|tally|realm)/, 'tasks'],
  [/^(?:log|trash)/, 'events'],
  [/^(?:send|name)/, 'idempotency'],
  [/^(?:push|outbox)/, 'push'],
];

/** Reads every page once, so it takes seconds for a large file. */
export function readPageUse(db: DatabaseSync): PageUse {
  const use = { tasks: 0, events: 0, conversations: 0, idempotency: 0, push: 0, other: 0 };
  for (const row of db.prepare('SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE').all()) {
    const kind = KINDS.find(([pattern]) => pattern.test(String(row['name'])))?.[1] ?? 'other';
    use[kind] += Number(row['pgsize']);
  }
  return { ...use, free: Number(readPragma(db, 'freelist_count')) * Number(readPragma(db, 'page_size')) };
}
