import type { PushConfigId } from '#protocol';
import type { Owner, TaskKey } from '../ports.ts';
import type { Lane, ReplyTo } from './lane.ts';
import { hasWork } from './lane.ts';

export interface Lanes {
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

export function createLanes(): Lanes {
  const byTask = new Map<TaskKey, readonly Lane[]>();
  const byNumber = new Map<number, Lane>();
  const owners = new Map<string, number>();
  const count = ({ row, task, reply }: Lane, by: number): void => {
    if (row.upTo !== undefined || reply !== undefined) return;
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
      for (const lane of byNumber.values()) if (lane.reply === undefined && hasWork(lane)) pending += 1;
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

interface OpeningReply {
  readonly task: TaskKey;
  readonly reply: ReplyTo;
}

/** Replies whose first commit is under way. */
export interface OpeningReplies {
  add(n: number, opening: OpeningReply): void;
  take(n: number): ReplyTo | undefined;
  has(task: TaskKey, reply: ReplyTo): boolean;
  hasAny(task: TaskKey): boolean;
}

export function createOpening(): OpeningReplies {
  const byNumber = new Map<number, OpeningReply>();
  const byTask = new Map<TaskKey, readonly ReplyTo[]>();
  return {
    add: (n, opening) => {
      byNumber.set(n, opening);
      byTask.set(opening.task, [...(byTask.get(opening.task) ?? []), opening.reply]);
    },
    take: (n) => {
      const found = byNumber.get(n);
      if (found === undefined) return undefined;
      byNumber.delete(n);
      const left = byTask.get(found.task)?.filter((reply) => reply !== found.reply) ?? [];
      if (left.length === 0) byTask.delete(found.task);
      else byTask.set(found.task, left);
      return found.reply;
    },
    has: (task, { to }) => byTask.get(task)?.some((reply) => reply.to === to) ?? false,
    hasAny: (task) => byTask.has(task),
  };
}
