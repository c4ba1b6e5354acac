import type { PushConfigId } from '#protocol';
import { isTerminal } from '#protocol';
import type { Core } from '../core.ts';
import type { Owner, TaskKey } from '../ports.ts';
import type { Courier, Vault } from './courier.ts';
import { Dispatcher } from './dispatcher.ts';
import type { Lane } from './lane.ts';
import { hasWork, newLane } from './lane.ts';
import type { Outbox } from './webhooks.ts';

export interface OutboxOptions {
  readonly courier: Courier | undefined;
  readonly vault: Vault | undefined;
  /** The engine's parts, which are there once it is put together. */
  readonly coreOf: () => Core;
}

const PAGE = 1000;

export function createOutbox({ courier, vault, coreOf }: OutboxOptions): Outbox {
  const lanes = createLanes();
  let lastNumber = 0;
  const nextNumber = (): number => {
    lastNumber += 1;
    return lastNumber;
  };
  let dispatcher: Dispatcher | undefined;
  const wake = (lane: Lane): void => dispatcher?.wake(lane);
  return {
    courier,
    vault,
    opening: (task, config, after) => {
      const known = lanes.mainOf(task.key, config)?.row;
      if (known === undefined && isTerminal(task.state)) return undefined;
      const dueAt = coreOf().now().ms;
      // What has not arrived at the old address goes to the new one.
      const place = known === undefined ? { n: nextNumber(), done: after } : { n: known.n, done: known.done };
      return { kind: 'outbox', row: { ...place, task: task.key, config, state: 'open', attempts: 0, dueAt } };
    },
    openOf: lanes.openOf,
    opened: (row, task, progress) => {
      const known = lanes.of(task.key).find((lane) => lane.row.n === row.n);
      if (known === undefined) wake(lanes.add(newLane(row, task, progress)));
      else dispatcher?.renew(known);
    },
    committed: (task, progress) => {
      if (lanes.size === 0) return;
      for (const lane of lanes.of(task)) {
        lane.progress = progress;
        wake(lane);
      }
    },
    dropped: (task, config) => {
      for (const lane of lanes.of(task)) {
        if (config !== undefined && lane.row.config !== config) continue;
        dispatcher?.close(lane);
        lanes.remove(lane);
      }
    },
    current: lanes.byNumber,
    start: async () => {
      const core = coreOf();
      ({ last: lastNumber } = await core.store.outboxStats());
      if (courier === undefined) return;
      dispatcher = new Dispatcher({ core, courier, vault, nextNumber, onClosed: lanes.remove });
      for (let after = 0; ; ) {
        const page = await core.store.outbox({ state: 'open', after, limit: PAGE });
        for (const { row, task } of page) {
          wake(lanes.add(newLane(row, task, { last: task.last, isFinished: isTerminal(task.state) })));
        }
        after = page.at(-1)?.row.n ?? after;
        if (page.length < PAGE) return;
      }
    },
    stop: async (ms) => dispatcher?.stop(ms),
    stats: () => ({ pending: lanes.pending(), ...(dispatcher?.stats ?? { sending: 0, tripped: 0, letters: 0 }) }),
  };
}

interface Lanes {
  readonly size: number;
  of(task: TaskKey): readonly Lane[];
  mainOf(task: TaskKey, config: PushConfigId): Lane | undefined;
  byNumber(n: number): Lane | undefined;
  openOf(owner: Owner): number;
  pending(): number;
  add(lane: Lane): Lane;
  remove(lane: Lane): void;
}

const NONE: readonly Lane[] = [];

function createLanes(): Lanes {
  const byTask = new Map<TaskKey, readonly Lane[]>();
  const byNumber = new Map<number, Lane>();
  const owners = new Map<string, number>();
  const count = ({ row, task }: Lane, by: number): void => {
    if (row.upTo !== undefined) return;
    const key = ownerKey(task.owner);
    const left = (owners.get(key) ?? 0) + by;
    if (left <= 0) owners.delete(key);
    else owners.set(key, left);
  };
  const of = (task: TaskKey): readonly Lane[] => byTask.get(task) ?? NONE;
  return {
    of,
    get size() {
      return byTask.size;
    },
    mainOf: (task, config) => of(task).find(({ row }) => row.config === config && row.upTo === undefined),
    byNumber: (n) => byNumber.get(n),
    openOf: (owner) => owners.get(ownerKey(owner)) ?? 0,
    pending: () => {
      let pending = 0;
      for (const lane of byNumber.values()) if (hasWork(lane)) pending += 1;
      return pending;
    },
    add: (lane) => {
      byTask.set(lane.task.key, [...of(lane.task.key), lane]);
      byNumber.set(lane.row.n, lane);
      count(lane, 1);
      return lane;
    },
    remove: (lane) => {
      if (!byNumber.delete(lane.row.n)) return;
      const left = of(lane.task.key).filter((each) => each !== lane);
      if (left.length === 0) byTask.delete(lane.task.key);
      else byTask.set(lane.task.key, left);
      count(lane, -1);
    },
  };
}

function ownerKey({ tenant, principal }: Owner): string {
  return `${tenant.length}.${tenant}${principal}`;
}
