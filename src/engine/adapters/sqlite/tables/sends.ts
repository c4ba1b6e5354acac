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
import type { HashedName } from './recent-steps.ts';
import { createRecentSteps, runsOf } from './recent-steps.ts';
import type { NamedSend } from './send-name-index.ts';
import type { SendNames } from './send-names.ts';
import { createSendNames } from './send-names.ts';

/** Sends, found by name (an Idempotency-Key or message id), to recognise repeated messages. */
export interface Sends {
  get(name: SendName): SendRecord | undefined;
  put(record: SendRecord): void;
  /** Marks the answers of sends as delivered. */
  deliver(sent: readonly SendName[]): void;
  forgetTask(task: number): void;
  /** Deletes older records of sends without a task. */
  forgetBefore(at: number): void;
  /** Deletes the records of a realm that have no task. */
  forgetRealm(realm: number): void;
  /** The records of a realm that have no task. */
  withoutTask(realm: Realm): readonly SendRecord[];
  /** At most `limit` records with a higher number, lowest first. */
  inOrder(after: number, limit: number): readonly NumberedSend[];
  readonly names: Pick<SendNames, 'flush' | 'settle'>;
}

/** A record with its position. */
export interface NumberedSend {
  readonly n: number;
  /** Undefined: it belongs to a task that no longer exists. */
  readonly record: SendRecord | undefined;
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
  const markDelivered = command(db, 'UPDATE send SET delivered = 1, sum = sum + 1 WHERE n BETWEEN ? AND ? AND delivered = 0');
  const dropTask = query<NamedSend>(db, 'DELETE FROM send WHERE task = ? RETURNING n, name AS hash');
  const dropBefore = query<NamedSend>(db, 'DELETE FROM send WHERE task IS NULL AND at < ? RETURNING n, name AS hash');
  // The condition on `at` makes SQLite use the index of sends without a task.
  const dropRealm = query<NamedSend>(db, 'DELETE FROM send WHERE task IS NULL AND at >= 0 AND realm = ? RETURNING n, name AS hash');
  const ofRealm = query<Stored>(db, `SELECT ${COLUMNS} FROM send WHERE task IS NULL AND at >= 0 AND realm = ? ORDER BY n`);
  const after = query<Stored>(db, `SELECT ${COLUMNS} FROM send WHERE n > ? ORDER BY n LIMIT ?`);
  const idOf = query<{ id: string }>(db, 'SELECT id FROM task WHERE key = ?');
  const recent = query<Stored>(db, `SELECT ${COLUMNS} FROM send WHERE n > ?`).all(named);
  const names = createSendNames(db, { named, recent: recent.map((stored) => ({ hash: whole(stored).name, n: stored.n })) });
  // A number is never reused: an old name must not lead to another send.
  let last = recent.reduce((max, { n }) => Math.max(max, n), named);
  const steps = createRecentSteps();

  const stored = ({ realm, token, hash: hashed }: HashedName): Stored | undefined =>
    names.find(hashed, (n) => {
      const row = byNumber.one(n);
      return row?.realm === realm && row.token === token ? row : undefined;
    });
  const hashedName = ({ owner, agent, token }: SendName): HashedName | undefined => {
    const realm = realms.find(owner, agent)?.key;
    return realm === undefined ? undefined : steps.of(realm, toText(token));
  };

  return {
    names,
    get: (name) => {
      const hashed = hashedName(name);
      const found = hashed === undefined ? undefined : stored(hashed);
      return found === undefined ? undefined : recordOf(whole(found), name, found.task === null ? undefined : idOf.one(found.task)?.id);
    },
    put: (record) => {
      const hashed = steps.of(realms.obtain(record.owner, record.agent).key, toText(record.token));
      const found = stored(hashed);
      const known = found === undefined ? undefined : whole(found).n;
      const row = storedOf(record, hashed, known ?? last + 1);
      const { n, name, realm, token, fingerprint, at, task, seq, answer, delivered, sum } = row;
      if (known === undefined) {
        insert(n, name, realm, token, fingerprint, at, task, seq, answer, delivered, sum);
        names.add({ hash: name, n });
        last = n;
      } else replace(fingerprint, at, task, seq, answer, delivered, sum, n);
      hashed.n = n;
    },
    deliver: (sent) => {
      const numbers: number[] = [];
      for (const name of sent) {
        const hashed = hashedName(name);
        if (hashed === undefined) continue;
        const n = hashed.n ?? stored(hashed)?.n;
        if (n !== undefined) numbers.push(n);
        steps.end(hashed);
      }
      for (const [first, end] of runsOf(numbers)) markDelivered(first, end);
    },
    forgetTask: (task) => dropTask.all(task).forEach(names.drop),
    forgetBefore: (at) => dropBefore.all(at).forEach(names.drop),
    forgetRealm: (realm) => dropRealm.all(realm).forEach(names.drop),
    withoutTask: ({ key, owner, agent }) =>
      ofRealm.all(key).map((stored) => recordOf(whole(stored), { owner, agent, token: fromText(stored.token) }, undefined)),
    inOrder: (from, limit) =>
      after.all(from, limit).map((stored) => numbered(stored, realms, stored.task === null ? undefined : idOf.one(stored.task)?.id)),
  };
}

function numbered(stored: Stored, realms: Realms, id: string | undefined): NumberedSend {
  const { owner, agent } = realms.byKey(whole(stored).realm);
  const isOrphan = stored.task !== null && id === undefined;
  return { n: stored.n, record: isOrphan ? undefined : recordOf(stored, { owner, agent, token: fromText(stored.token) }, id) };
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

function storedOf(record: SendRecord, { hash: name, realm, token }: HashedName, n: number): Stored {
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
 * `delivered` is added to the checksum, so that it can be changed without reading the rest of the row. A text may be null in a damaged row.
 */
function sumOf({ n, name, realm, token, fingerprint, at, task, seq, answer, delivered }: Omit<Stored, 'sum'>): number {
  return crc32(`${n} ${name} ${realm} ${at} ${task} ${seq} ${fingerprint} ${String(token).length} ${token} ${answer}`) + delivered;
}
