import type { PushConfigId } from '#protocol';
import type { Owner, TaskKey } from '../ports.ts';
import type { DeliveryQueue, ReplyAddress } from './queue.ts';
import { hasWork } from './queue.ts';

/** The open queues, of webhooks and of replies. */
export interface DeliveryQueues {
  readonly size: number;
  of(task: TaskKey): readonly DeliveryQueue[];
  has(task: TaskKey): boolean;
  /** The queue of a config. Redeliveries that an operator asked for have queues of their own. */
  mainOf(task: TaskKey, config: PushConfigId): DeliveryQueue | undefined;
  byNumber(n: number): DeliveryQueue | undefined;
  /** Open webhook queues of one caller. */
  openOf(owner: Owner): number;
  /** Webhook queues with undelivered events. */
  pending(): number;
  /** When the oldest undelivered event of a webhook was saved. Undefined if everything is delivered. */
  pendingSince(): number | undefined;
  all(): Iterable<DeliveryQueue>;
  add(queue: DeliveryQueue): DeliveryQueue;
  remove(queue: DeliveryQueue): void;
}

const NONE: readonly DeliveryQueue[] = [];

/** All open queues, found by task and by number, and counted for each owner. */
export function createQueues(): DeliveryQueues {
  const byTask = new Map<TaskKey, readonly DeliveryQueue[]>();
  const byNumber = new Map<number, DeliveryQueue>();
  const owners = new Map<string, number>();
  const count = ({ row, task, reply }: DeliveryQueue, by: number): void => {
    if (row.upTo !== undefined || reply !== undefined) return;
    const key = ownerKey(task.owner);
    const left = (owners.get(key) ?? 0) + by;
    if (left <= 0) owners.delete(key);
    else owners.set(key, left);
  };
  const of = (task: TaskKey): readonly DeliveryQueue[] => byTask.get(task) ?? NONE;
  return {
    of,
    has: (task) => byTask.has(task),
    get size() {
      return byTask.size;
    },
    mainOf: (task, config) => of(task).find(({ row }) => row.config === config && row.upTo === undefined),
    byNumber: (n) => byNumber.get(n),
    openOf: (owner) => owners.get(ownerKey(owner)) ?? 0,
    pending: () => {
      let pending = 0;
      for (const queue of byNumber.values()) if (queue.reply === undefined && hasWork(queue)) pending += 1;
      return pending;
    },
    pendingSince: () => {
      let oldest: number | undefined;
      for (const { reply, pendingSince } of byNumber.values()) {
        if (reply === undefined && pendingSince !== undefined) oldest = Math.min(oldest ?? pendingSince, pendingSince);
      }
      return oldest;
    },
    all: () => byNumber.values(),
    add: (queue) => {
      byTask.set(queue.task.key, [...of(queue.task.key), queue]);
      byNumber.set(queue.row.n, queue);
      count(queue, 1);
      return queue;
    },
    remove: (queue) => {
      if (!byNumber.delete(queue.row.n)) return;
      const left = of(queue.task.key).filter((each) => each !== queue);
      if (left.length === 0) byTask.delete(queue.task.key);
      else byTask.set(queue.task.key, left);
      count(queue, -1);
    },
  };
}

function ownerKey({ tenant, principal }: Owner): string {
  return `${tenant.length}.${tenant}${principal}`;
}

interface NewReply {
  readonly task: TaskKey;
  readonly reply: ReplyAddress;
}

/** Reply queues that are not durable yet. */
export interface NewReplies {
  add(n: number, opening: NewReply): void;
  take(n: number): ReplyAddress | undefined;
  has(task: TaskKey, reply: ReplyAddress): boolean;
  hasAny(task: TaskKey): boolean;
}

/** Replies whose first commit is not done yet. */
export function createNewReplies(): NewReplies {
  const byNumber = new Map<number, NewReply>();
  const byTask = new Map<TaskKey, readonly ReplyAddress[]>();
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
