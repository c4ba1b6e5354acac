import type { Message } from '#protocol';
import { dialectId, parseOwnJson, seq, taskId } from '#protocol';
import type { OutboxEntry, PushRow, SendName, SendRecord, Store, TaskRow } from '../../ports.ts';
import { taskKey } from '../../ports.ts';
import { isIn } from '../../search/is-listed.ts';
import { ALIAS_NAME, SEND_NAME } from './commit-parts.ts';
import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import { gathered } from './gathered.ts';
import { cellsValue, createPostgresLists, inCells } from './lists.ts';
import { createPostgresLog } from './log.ts';
import type { PostgresRealms } from './realms.ts';
import type { StoredOutbox, StoredTaskRow } from './records.ts';
import { outboxOf, TASK_COLUMNS, taskOf } from './records.ts';
import type { SchemaName } from './schema.ts';
import { fromText, toIndexed, toText } from './text.ts';

interface Reads extends Omit<Store, 'commit' | 'close' | 'reserveKeys' | 'search' | 'names'> {
  read<R extends object>(sql: Sql, values?: readonly unknown[]): Promise<readonly R[]>;
  rows(stored: readonly StoredTaskRow[]): Promise<readonly TaskRow[]>;
}

interface StoredSend {
  readonly task: number | null;
  readonly id: string | null;
  readonly seq: number | null;
  readonly fingerprint: string;
  readonly at: number;
  readonly delivered: boolean;
  readonly answer: string | null;
}

interface StoredSendName {
  readonly realm: number;
  readonly name: string;
}

interface StoredPush {
  readonly dialect: string;
  readonly after: number;
  readonly config: string;
  readonly sealed: string | null;
}

/** All reads, on shared connections. They see every commit that was acknowledged. */
export function createPostgresReads(database: PostgresDatabase, s: SchemaName, realms: PostgresRealms): Reads {
  const sql = statements(s);
  const read = <R extends object>(statement: Sql, values?: readonly unknown[]): Promise<readonly R[]> =>
    reading(() => database.read<R>(statement, values));
  const rows = async (stored: readonly StoredTaskRow[]): Promise<readonly TaskRow[]> => {
    const known = await realms.byNumber(stored.map(({ realm }) => realm));
    return stored.map((each) => taskOf(each, known));
  };
  // Nearly every send asks for its name, so those of one moment share a query.
  const storedSend = gathered(async (names: readonly StoredSendName[]): Promise<readonly (StoredSend | undefined)[]> => {
    const found = await read<StoredSend & { readonly at_name: number }>(sql.sends, [JSON.stringify(names)]);
    const byPlace = new Map(found.map((stored) => [stored.at_name, stored]));
    return names.map((_, at) => byPlace.get(at + 1));
  });
  return {
    read,
    rows,
    ...createPostgresLists({ schema: s, realms, read, rows }),
    entries: createPostgresLog(s, read),
    lastKey: async () => (await read<{ key: number }>(sql.lastKey))[0]?.key ?? 0,
    task: async (scope, id) => {
      const [row] = await rows(await read<StoredTaskRow>(sql.byId, [toText(id)]));
      return row !== undefined && isIn(scope, row.owner) ? row : undefined;
    },
    byAlias: async (owner, agent, alias) => {
      const realm = await realms.find(owner, agent);
      return realm === undefined ? undefined : (await rows(await read<StoredTaskRow>(sql.byAlias, [realm, toText(alias)])))[0];
    },
    send: async (name) => {
      const realm = await realms.find(name.owner, name.agent);
      const stored = realm === undefined ? undefined : await storedSend({ realm, name: toIndexed(name.token) });
      return stored === undefined ? undefined : recordOf(stored, name);
    },
    directAnswers: async (owner) => {
      const within = await realms.within(owner, undefined);
      const known = await realms.byNumber(within);
      const found = await read<StoredSend & { readonly realm: number; readonly token: string }>(sql.directAnswers, [
        JSON.stringify(within),
      ]);
      return found.map((stored) => recordOf(stored, { owner, agent: known.get(stored.realm)?.agent ?? '', token: fromText(stored.token) }));
    },
    pushConfigs: async (task) => (await read<StoredPush>(sql.pushes, [task])).map(pushOf),
    outbox: async ({ state, n, after = 0, limit, cells }) => {
      const values = [n ?? null, state === undefined ? null : state === 'dead', after, limit, cellsValue(cells)];
      const found = await read<StoredOutbox & { readonly row: StoredTaskRow }>(sql.outbox, values);
      const tasks = await rows(found.map(({ row }) => row));
      return found.flatMap((stored, at): OutboxEntry[] => {
        const task = tasks[at];
        return task === undefined ? [] : [{ row: outboxOf(stored), task }];
      });
    },
    outboxStats: async (cells) =>
      (await read<{ last: number; dead: number }>(sql.outboxStats, [cellsValue(cells)]))[0] ?? { last: 0, dead: 0 },
  };
}

function statements(s: SchemaName) {
  return {
    byId: { name: 'task', text: `SELECT ${TASK_COLUMNS} FROM ${s}.tasks WHERE id = $1` },
    // Each process has its own range of keys, so the newest task is not always the one with the highest key. If the newest is deleted, the name is free.
    byAlias: {
      name: 'alias',
      text: `SELECT ${TASK_COLUMNS} FROM ${s}.tasks WHERE key = coalesce(
        (SELECT task FROM ${s}.names WHERE realm = $1 AND kind = ${ALIAS_NAME} AND name = $2),
        (SELECT max(key) FROM ${s}.tasks WHERE realm = $1 AND alias = $2))`,
    },
    // LATERAL with a limit: the server looks each name up in the index. A join would read the whole table while it is small, at each send.
    sends: {
      name: 'sends',
      text: `SELECT q.at_name, n.task, n.id, n.seq, n.fingerprint, n.at, n.delivered, n.answer
        FROM ROWS FROM (json_to_recordset($1::json) AS (realm int, name text)) WITH ORDINALITY AS q(realm, name, at_name)
        CROSS JOIN LATERAL (
          SELECT n.task, k.id, n.seq, n.fingerprint, n.at, n.delivered, n.answer FROM ${s}.names n LEFT JOIN ${s}.tasks k ON k.key = n.task
          WHERE n.realm = q.realm AND n.kind = ${SEND_NAME} AND n.name = q.name LIMIT 1) AS n`,
    },
    directAnswers: {
      name: 'direct-answers',
      text: `SELECT realm, coalesce(token, name) AS token, NULL AS task, NULL AS id, NULL AS seq, fingerprint, at, delivered, answer FROM ${s}.names
        WHERE kind = ${SEND_NAME} AND task IS NULL AND realm IN (SELECT v::int FROM json_array_elements_text($1::json) AS v) ORDER BY at, name`,
    },
    pushes: { name: 'pushes', text: `SELECT dialect, after, config, sealed FROM ${s}.pushes WHERE task = $1 ORDER BY n` },
    outbox: {
      name: 'outbox',
      text: `SELECT o.*, to_json(k.*) AS row FROM ${s}.outbox o JOIN ${s}.tasks k ON k.key = o.task
        WHERE ($1::bigint IS NULL OR o.n = $1) AND ($2::boolean IS NULL OR o.dead = $2) AND o.n > $3
        AND ${inCells('k.cell', '$5')} ORDER BY o.n LIMIT $4`,
    },
    outboxStats: {
      name: 'outbox-stats',
      text: `SELECT coalesce((SELECT max(n) FROM ${s}.outbox), 0) AS last,
        (SELECT count(*) FROM ${s}.outbox o JOIN ${s}.tasks k ON k.key = o.task WHERE o.dead AND ${inCells('k.cell', '$1')}) AS dead`,
    },
    lastKey: {
      name: 'last-key',
      text: `SELECT greatest((SELECT max(key) FROM ${s}.tasks), (SELECT last_key FROM ${s}.meta)) AS key`,
    },
  } satisfies Readonly<Record<string, Sql>>;
}

function recordOf(stored: StoredSend, { owner, agent, token }: SendName): SendRecord {
  const { task, id, seq: at, answer } = stored;
  return {
    ...{ owner, agent, token, fingerprint: fromText(stored.fingerprint), at: stored.at, delivered: stored.delivered },
    ...(task === null || id === null || at === null ? {} : { task: { key: taskKey(task), id: taskId(fromText(id)), seq: seq(at) } }),
    ...(answer === null ? {} : { answer: parseOwnJson<Message>(answer) }),
  };
}

function pushOf({ dialect, after, config, sealed }: StoredPush): PushRow {
  const row = { config: parseOwnJson<PushRow['config']>(config), dialect: dialectId(dialect), after: seq(after) };
  return sealed === null ? row : { ...row, sealed };
}
