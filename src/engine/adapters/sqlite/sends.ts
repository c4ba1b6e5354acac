import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Message, Seq, TaskId } from '#protocol';
import type { SendName, SendRecord, TaskKey } from '../../ports.ts';
import { StoreError } from './faults.ts';
import type { Realms } from './realms.ts';
import { command, query } from './statement.ts';
import { fromText, toText } from './text.ts';

/** Sends by name. Names are indexed by 52 bits of their hash: a third of the bytes, and the row tells the rest. */
export interface Sends {
  get(name: SendName): SendRecord | undefined;
  put(record: SendRecord): void;
  deliver(name: SendName): void;
  forgetTask(task: number): void;
  forgetBefore(at: number): void;
}

interface Stored {
  readonly n: number;
  readonly realm: number;
  readonly token: string;
  readonly fingerprint: string;
  readonly at: number;
  readonly task: number | null;
  readonly seq: number | null;
  readonly answer: string | null;
  readonly delivered: number;
  readonly sum: number;
}

export function createSends(db: DatabaseSync, realms: Realms): Sends {
  const named = query<Stored>(
    db,
    'SELECT n, realm, token, fingerprint, at, task, seq, answer, delivered, sum FROM send WHERE name = ? AND realm = ? AND token = ?',
  );
  const insert = command(
    db,
    'INSERT INTO send (name, realm, token, fingerprint, at, task, seq, answer, delivered, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const replace = command(db, 'UPDATE send SET fingerprint = ?, at = ?, task = ?, seq = ?, answer = ?, delivered = ?, sum = ? WHERE n = ?');
  const markDelivered = command(db, 'UPDATE send SET delivered = 1, sum = sum + 1 WHERE n = ? AND delivered = 0');
  const dropTask = command(db, 'DELETE FROM send WHERE task = ?');
  const dropBefore = command(db, 'DELETE FROM send WHERE task IS NULL AND at < ?');
  const idOf = query<{ id: string }>(db, 'SELECT id FROM task WHERE key = ?');

  const find = (realm: number, token: string): Stored | undefined => {
    const stored = named.one(hashOf(realm, token), realm, token);
    if (stored !== undefined && stored.sum !== sumOf(stored)) throw new StoreError('damaged', `send ${token} is not as it was written`);
    return stored;
  };

  return {
    get: (name) => {
      const realm = realms.find(name.owner, name.agent);
      const stored = realm === undefined ? undefined : find(realm.key, toText(name.token));
      if (stored === undefined) return undefined;
      const { task, seq, answer } = stored;
      const id = task === null ? undefined : idOf.one(task)?.id;
      return {
        owner: name.owner,
        agent: name.agent,
        token: name.token,
        fingerprint: stored.fingerprint,
        at: stored.at,
        delivered: stored.delivered === 1,
        ...(task === null || seq === null || id === undefined
          ? {}
          : { task: { key: task as TaskKey, id: fromText(id) as TaskId, seq: seq as Seq } }),
        ...(answer === null ? {} : { answer: JSON.parse(answer) as Message }),
      };
    },
    put: (record) => {
      const realm = realms.obtain(record.owner, record.agent).key;
      const token = toText(record.token);
      const row = {
        realm,
        token,
        fingerprint: record.fingerprint,
        at: record.at,
        task: record.task?.key ?? null,
        seq: record.task?.seq ?? null,
        answer: record.answer === undefined ? null : JSON.stringify(record.answer),
        delivered: record.delivered ? 1 : 0,
      };
      const sum = sumOf(row);
      const name = hashOf(realm, token);
      const known = named.one(name, realm, token)?.n;
      if (known === undefined) insert(name, realm, token, row.fingerprint, row.at, row.task, row.seq, row.answer, row.delivered, sum);
      else replace(row.fingerprint, row.at, row.task, row.seq, row.answer, row.delivered, sum, known);
    },
    deliver: (name) => {
      const realm = realms.find(name.owner, name.agent);
      const stored = realm === undefined ? undefined : find(realm.key, toText(name.token));
      if (stored !== undefined) markDelivered(stored.n);
    },
    forgetTask: (task) => {
      dropTask(task);
    },
    forgetBefore: (at) => {
      dropBefore(at);
    },
  };
}

/** `delivered` is added, not mixed in, so that marking it needs no look at the rest. */
function sumOf({ realm, token, fingerprint, at, task, seq, answer, delivered }: Omit<Stored, 'n' | 'sum'>): number {
  return crc32(`${realm} ${at} ${task} ${seq} ${fingerprint} ${token.length} ${token} ${answer}`) + delivered;
}

function hashOf(realm: number, token: string): number {
  return Number.parseInt(hash('sha256', `${realm} ${token}`).slice(0, 13), 16);
}
