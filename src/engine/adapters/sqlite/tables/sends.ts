import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Message } from '#protocol';
import { parseOwnJson, taskId, seq as toSeq } from '#protocol';
import type { SendName, SendRecord } from '../../../ports.ts';
import { taskKey } from '../../../ports.ts';
import { StoreError } from '../../shared/store-error.ts';
import { command, query } from '../database/statement.ts';
import { fromText, toText } from '../database/text.ts';
import type { Realm, Realms } from './realms.ts';
import type { NamedSend } from './send-name-index.ts';
import type { SendNames } from './send-names.ts';
import { createSendNames } from './send-names.ts';

/** Sends, found by name (an Idempotency-Key or message id), to recognise repeated messages. */
export interface Sends {
  get(name: SendName): SendRecord | undefined;
  put(record: SendRecord): void;
  /** Marks the answer of a send as delivered. */
  deliver(name: SendName): void;
  forgetTask(task: number): void;
  /** Deletes older records of sends without a task. */
  forgetBefore(at: number): void;
  /** Deletes the records of a realm that have no task. */
  forgetRealm(realm: number): void;
  /** The records of a realm that have no task. */
  withoutTask(realm: Realm): readonly SendRecord[];
  readonly names: Pick<SendNames, 'flush' | 'settle'>;
}

interface Stored {
  readonly n: number;
  readonly name: number;
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

const COLUMNS = 'n, name, realm, token, fingerprint, at, task, seq, answer, delivered, sum';

/** Reads the names of recent sends, which are not in the index yet. */
export function createSends(db: DatabaseSync, realms: Realms, named: number): Sends {
  const byNumber = query<Stored>(db, `SELECT ${COLUMNS} FROM send WHERE n = ?`);
  const insert = command(db, `INSERT INTO send (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const replace = command(db, 'UPDATE send SET fingerprint = ?, at = ?, task = ?, seq = ?, answer = ?, delivered = ?, sum = ? WHERE n = ?');
  const markDelivered = command(
    db,
    'UPDATE send SET delivered = 1, sum = sum + 1 WHERE n = ? AND realm = ? AND token = ? AND delivered = 0',
  );
  const dropTask = query<NamedSend>(db, 'DELETE FROM send WHERE task = ? RETURNING n, name AS hash');
  const dropBefore = query<NamedSend>(db, 'DELETE FROM send WHERE task IS NULL AND at < ? RETURNING n, name AS hash');
  // The condition on `at` makes SQLite use the index of sends without a task.
  const dropRealm = query<NamedSend>(db, 'DELETE FROM send WHERE task IS NULL AND at >= 0 AND realm = ? RETURNING n, name AS hash');
  const ofRealm = query<Stored>(db, `SELECT ${COLUMNS} FROM send WHERE task IS NULL AND at >= 0 AND realm = ? ORDER BY n`);
  const idOf = query<{ id: string }>(db, 'SELECT id FROM task WHERE key = ?');
  const recent = query<Stored>(db, `SELECT ${COLUMNS} FROM send WHERE n > ?`).all(named);
  const names = createSendNames(db, { named, recent: recent.map((stored) => ({ hash: whole(stored).name, n: stored.n })) });
  // A number is never reused: an old name must not lead to another send.
  let last = recent.reduce((max, { n }) => Math.max(max, n), named);

  const find = (hashed: number, realm: number, token: string): Stored | undefined =>
    names.find(hashed, (n) => {
      const stored = byNumber.one(n);
      return stored?.realm === realm && stored.token === token ? whole(stored) : undefined;
    });
  const findByName = (name: SendName): Stored | undefined => {
    const realm = realms.find(name.owner, name.agent)?.key;
    const token = toText(name.token);
    return realm === undefined ? undefined : find(hashOf(realm, token), realm, token);
  };

  return {
    names,
    get: (name) => {
      const stored = findByName(name);
      return stored === undefined ? undefined : recordOf(stored, name, stored.task === null ? undefined : idOf.one(stored.task)?.id);
    },
    put: (record) => {
      const realm = realms.obtain(record.owner, record.agent).key;
      const token = toText(record.token);
      const name = hashOf(realm, token);
      const known = find(name, realm, token)?.n;
      const row = storedOf(record, { n: known ?? last + 1, name, realm, token });
      const { n, fingerprint, at, task, seq, answer, delivered, sum } = row;
      if (known !== undefined) {
        replace(fingerprint, at, task, seq, answer, delivered, sum, n);
        return;
      }
      insert(n, name, realm, token, fingerprint, at, task, seq, answer, delivered, sum);
      names.add({ hash: name, n });
      last = n;
    },
    deliver: (name) => {
      const realm = realms.find(name.owner, name.agent);
      if (realm === undefined) return;
      const token = toText(name.token);
      names.find(hashOf(realm.key, token), (n) => (markDelivered(n, realm.key, token) === 1 ? n : undefined));
    },
    forgetTask: (task) => dropTask.all(task).forEach(names.drop),
    forgetBefore: (at) => dropBefore.all(at).forEach(names.drop),
    forgetRealm: (realm) => dropRealm.all(realm).forEach(names.drop),
    withoutTask: ({ key, owner, agent }) =>
      ofRealm.all(key).map((stored) => recordOf(whole(stored), { owner, agent, token: fromText(stored.token) }, undefined)),
  };
}

function recordOf({ fingerprint, at, delivered, task, seq, answer }: Stored, name: SendName, id: string | undefined): SendRecord {
  const where =
    task === null || seq === null || id === undefined ? {} : { task: { key: taskKey(task), id: taskId(fromText(id)), seq: toSeq(seq) } };
  return {
    owner: name.owner,
    agent: name.agent,
    token: name.token,
    fingerprint,
    at,
    delivered: delivered === 1,
    ...where,
    ...(answer === null ? {} : { answer: parseOwnJson<Message>(answer) }),
  };
}

function storedOf(record: SendRecord, { n, name, realm, token }: Pick<Stored, 'n' | 'name' | 'realm' | 'token'>): Stored {
  const stored = {
    n,
    name,
    realm,
    token,
    fingerprint: record.fingerprint,
    at: record.at,
    task: record.task?.key ?? null,
    seq: record.task?.seq ?? null,
    answer: record.answer === undefined ? null : JSON.stringify(record.answer),
    delivered: record.delivered ? 1 : 0,
  };
  return { ...stored, sum: sumOf(stored) };
}

function whole(stored: Stored): Stored {
  if (stored.sum !== sumOf(stored)) throw new StoreError('damaged', `the checksum of send ${stored.n} is wrong`);
  return stored;
}

/**
 * `delivered` is added to the checksum, so that it can be changed without reading the rest of the row.
 */
function sumOf({ n, name, realm, token, fingerprint, at, task, seq, answer, delivered }: Omit<Stored, 'sum'>): number {
  return crc32(`${n} ${name} ${realm} ${at} ${task} ${seq} ${fingerprint} ${token.length} ${token} ${answer}`) + delivered;
}

/** 48 bits. Sends found by the hash are compared in full. */
function hashOf(realm: number, token: string): number {
  return Number.parseInt(hash('sha256', `${realm} ${token}`).slice(0, 12), 16);
}
