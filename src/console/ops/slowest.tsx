import { useState } from 'preact/hooks';
import type { AdminTask } from '#protocol';
import { isTerminal } from '#protocol';
import { placeOf } from '../agents/known.ts';
import { admin } from '../api.ts';
import { usePolling } from '../poll.ts';
import { took } from '../ui/basic.tsx';

const EVERY_MS = 15_000;
const AMONG = 200;
const WORDS_MAX = 100;
const ROWS_MAX = 8;

/** A finished task and how long it took, from its first message to its last status. */
interface Timed {
  readonly task: AdminTask;
  readonly ms: number;
}

async function newestTimed(agent = ''): Promise<readonly Timed[]> {
  const { tasks } = await admin.tasks(new URLSearchParams({ pageSize: String(AMONG), ...(agent === '' ? {} : { agent }) }));
  const over = tasks.filter(({ state }) => isTerminal(state));
  const started = new Map<string, string>();
  for (let from = 0; from < over.length; from += WORDS_MAX) {
    const words = await admin.words(over.slice(from, from + WORDS_MAX).map(({ id }) => id));
    for (const { id, startedAt } of words) started.set(id, startedAt);
  }
  return over.flatMap((task) => {
    const began = started.get(task.id);
    return began === undefined ? [] : [{ task, ms: Math.max(0, Date.parse(task.statusAt) - Date.parse(began)) }];
  });
}

/** The value that this share of the sorted values does not exceed. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** Half of the tasks, 95 % and 99 % of them took no longer than this. */
function Percentiles({ timed }: { readonly timed: readonly Timed[] }) {
  const sorted = timed.map(({ ms }) => ms).sort((one, other) => one - other);
  const failed = timed.filter(({ task: { state } }) => state === 'TASK_STATE_FAILED').length;
  const facts: readonly (readonly [string, string])[] = [
    ['Finished tasks', String(timed.length)],
    ['Failed', String(failed)],
    ['Median', took(percentile(sorted, 0.5))],
    ['95th percentile', took(percentile(sorted, 0.95))],
    ['99th percentile', took(percentile(sorted, 0.99))],
  ];
  return (
    <dl class="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function useTimed(agent = ''): readonly Timed[] {
  const [timed, setTimed] = useState<readonly Timed[]>([]);
  usePolling(async () => setTimed(await newestTimed(agent)), EVERY_MS, [agent]);
  return timed;
}

/** What an agent did lately. Nothing for an agent without finished tasks. */
export function Usage({ agent }: { readonly agent: string }) {
  const timed = useTimed(agent);
  if (timed.length === 0) return null;
  return (
    <section aria-label="Usage">
      <h2>Usage</h2>
      <p class="dim">The newest {AMONG} tasks of the agent, from the first message to the last status.</p>
      <Percentiles timed={timed} />
    </section>
  );
}

/** Durations of the newest tasks, and which agents and callers have the slowest ones. */
export function Slowest() {
  const timed = useTimed();
  if (timed.length === 0) return null;
  return (
    <section aria-label="Durations of tasks">
      <h2>Durations of tasks</h2>
      <p class="dim">
        The newest {AMONG} tasks, from the first message to the last status. The time that a task waited for a person counts.
      </p>
      <Percentiles timed={timed} />
      <div class="slowest">
        <Table title="Slowest agents" timed={timed} nameOf={({ agent }) => agent} placeOfName={placeOf} />
        <Table
          title="Slowest callers"
          timed={timed}
          nameOf={({ principal }) => principal}
          placeOfName={(name) => `/tasks?principal=${encodeURIComponent(name)}`}
        />
      </div>
    </section>
  );
}

interface TableProps {
  readonly title: string;
  readonly timed: readonly Timed[];
  readonly nameOf: (task: AdminTask) => string;
  readonly placeOfName: (name: string) => string;
}

/** The groups with the slowest tasks first. */
function Table({ title, timed, nameOf, placeOfName }: TableProps) {
  const groups = Map.groupBy(timed, ({ task }) => nameOf(task));
  const rows = [...groups].map(([name, all]) => ({ name, all: all.toSorted((one, other) => one.ms - other.ms) }));
  rows.sort((one, other) => (other.all.at(-1)?.ms ?? 0) - (one.all.at(-1)?.ms ?? 0));
  return (
    <div class="table-box panel">
      <table aria-label={title}>
        <thead>
          <tr>
            <th>{title}</th>
            <th>tasks</th>
            <th>median</th>
            <th>95 %</th>
            <th>slowest</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS_MAX).map(({ name, all }) => {
            const sorted = all.map(({ ms }) => ms);
            const slowest = all.at(-1);
            return (
              <tr key={name}>
                <td>
                  <a href={`/console${placeOfName(name)}`}>{name}</a>
                </td>
                <td>{all.length}</td>
                <td>{took(percentile(sorted, 0.5))}</td>
                <td>{took(percentile(sorted, 0.95))}</td>
                <td>
                  <a href={`/console/tasks/${encodeURIComponent(slowest?.task.id ?? '')}`}>{took(slowest?.ms ?? 0)}</a>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
