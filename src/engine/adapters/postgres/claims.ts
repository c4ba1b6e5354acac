import type { TakenNames } from '../../commit/outcome.ts';
import type { SendRecord, TaskKey } from '../../ports.ts';
import { StoreError } from '../shared/store-error.ts';
import type { NetBatch } from './batch.ts';
import { newTasks } from './batch.ts';
import { SEND_NAME } from './commit-parts.ts';
import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import type { PostgresRealms } from './realms.ts';
import type { SchemaName } from './schema.ts';
import { toIndexed } from './text.ts';
import type { CommitResult, StoredName } from './writer.ts';

interface ClaimParts {
  readonly database: PostgresDatabase;
  readonly schema: SchemaName;
  readonly realms: PostgresRealms;
  /** Sends a batch as this replica. `look` is for a claim whose answer was lost. */
  readonly send: (net: NetBatch, replica: number, look: () => Promise<TakenNames>) => Promise<CommitResult>;
}

interface StoredAnswer extends StoredName {
  readonly task: number | null;
  readonly answer: string | null;
}

/** Commits batches whose names other replicas may take at the same time. */
export function createClaims({ database, schema, realms, send }: ClaimParts): (net: NetBatch, replica: number) => Promise<TakenNames> {
  const sql = statements(schema);
  const stored = async (records: readonly SendRecord[]): Promise<readonly StoredAnswer[]> => {
    const names = records.map(({ owner, agent, token }) => ({ realm: realms.known(owner, agent), name: toIndexed(token) }));
    return records.length === 0 ? [] : reading(() => database.read<StoredAnswer>(sql.names, [JSON.stringify(names)]));
  };
  const isNamed = ({ owner, agent, token }: SendRecord, { realm, name }: StoredName): boolean =>
    name === toIndexed(token) && realm === realms.known(owner, agent);

  /** After a lost answer: the batch was written, without the new tasks and the answers that are not there. */
  const look = async (net: NetBatch): Promise<TakenNames> => {
    const fresh = newTasks(net);
    const found = await reading(() => database.read<{ key: number }>(sql.keys, [JSON.stringify(fresh)]));
    const made = new Set(found.map(({ key }) => key));
    const answers = answered(net);
    const known = await stored(answers);
    return {
      tasks: new Set(fresh.filter((key) => !made.has(key))),
      sends: new Set(
        answers.filter((record) => !known.some((each) => isNamed(record, each) && each.answer === JSON.stringify(record.answer))),
      ),
    };
  };

  const claim = async (net: NetBatch, replica: number): Promise<TakenNames> => {
    try {
      const { made, taken } = await send(net, replica, () => look(net));
      const there = new Set(made);
      return {
        tasks: new Set(newTasks(net).filter((key) => !there.has(key))),
        sends: new Set(answered(net).filter((record) => taken.some((each) => isNamed(record, each)))),
      };
    } catch (thrown) {
      if (!(thrown instanceof StoreError) || thrown.fault !== 'conflict') throw thrown;
      // A new task may have an alias that is free and a send that is known. One statement can't give the alias back.
      const lost = await knownSends(net);
      if (lost.length === 0) throw thrown;
      const { tasks, sends } = await claim(without(net, lost), replica);
      return { tasks: new Set([...tasks, ...lost]), sends };
    }
  };

  /** New tasks with an alias whose send is a known one. */
  const knownSends = async (net: NetBatch): Promise<readonly TaskKey[]> => {
    const records = puts(net).filter(
      ({ task }) => task !== undefined && task.seq === 1 && net.tasks.get(task.key)?.row.alias !== undefined,
    );
    const known = await stored(records);
    return records.flatMap((record) => {
      const there = known.find((each) => isNamed(record, each));
      return record.task === undefined || there === undefined || there.task === record.task.key ? [] : [record.task.key];
    });
  };
  return claim;
}

function puts({ sends }: NetBatch): readonly SendRecord[] {
  return [...sends.values()].flatMap((change) => (change.kind === 'put' ? [change.source] : []));
}

function answered(net: NetBatch): readonly SendRecord[] {
  return puts(net).filter(({ task }) => task === undefined);
}

/** The batch without some of its new tasks, and without everything that belongs to them. */
function without(net: NetBatch, lost: readonly TaskKey[]): NetBatch {
  const isLost = (task: TaskKey | undefined): boolean => task !== undefined && lost.includes(task);
  return {
    ...net,
    tasks: new Map([...net.tasks].filter(([key]) => !isLost(key))),
    sends: new Map([...net.sends].filter(([, change]) => change.kind !== 'put' || !isLost(change.record.task?.key))),
    pushes: new Map([...net.pushes].filter(([, { task }]) => !isLost(task))),
    outbox: new Map([...net.outbox].filter(([, row]) => !isLost(row?.task))),
  };
}

function statements(s: SchemaName): Readonly<Record<'keys' | 'names', Sql>> {
  return {
    keys: {
      name: 'claimed-keys',
      text: `SELECT key FROM ${s}.tasks WHERE key IN (SELECT v::bigint FROM json_array_elements_text($1::json) AS v)`,
    },
    names: {
      name: 'claimed-names',
      text: `SELECT n.realm, n.name, n.task, n.answer FROM ${s}.names n JOIN json_to_recordset($1::json) AS q(realm int, name text)
        ON n.realm = q.realm AND n.name = q.name WHERE n.kind = ${SEND_NAME}`,
    },
  };
}
