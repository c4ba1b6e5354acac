import type { PushConfigId, Seq } from '#protocol';
import type { OutboxRow, Owner, TaskKey, TaskRow, Write } from '../ports.ts';
import type { Carrier, Courier, Vault } from './courier.ts';
import type { Lane, Progress, ReplyTo } from './lane.ts';

/**
 * Webhooks. Each config of a task has a queue, which is a place in the task's log: events after it have not arrived yet. In order, one at a
 * time; what fails is tried again by the schedule, and what never arrives is set aside for an operator.
 */
export interface Outbox {
  /** Undefined: nothing can be delivered here, so that nobody may ask for it. */
  readonly courier: Courier | undefined;
  readonly vault: Vault | undefined;
  /** Undefined: bindings can't ask for answers elsewhere. */
  readonly carrier: Carrier | undefined;
  /** The write that opens the queue of a new config, or wakes that of one that is replaced; undefined if nothing can follow any more. */
  opening(task: TaskRow, config: PushConfigId, after: Seq): OutboxWrite | undefined;
  /** The writes that keep where the answers to a message go; none if they go there already. */
  replying(task: TaskRow, reply: ReplyTo, asked: Seq): readonly Write[];
  /** Answers of the task go somewhere besides to its callers. */
  hasReply(task: TaskKey): boolean;
  /** Looks up whether the queue is one of replies, before it is opened again. */
  recall(row: OutboxRow): Promise<void>;
  /** Configs whose queues are open. */
  openOf(owner: Owner): number;
  /** Durable: what `opening` gave, or an operator's wish. */
  opened(row: OutboxRow, task: Lane['task'], progress: Progress): void;
  /** Somebody waits for events of this task: asked after every commit, so that tasks without webhooks cost nothing more. */
  watches(task: TaskKey): boolean;
  /** The task has new events, on disk. */
  committed(task: TaskKey, progress: Progress): void;
  /** The config is no more; without one, the task. */
  dropped(task: TaskKey, config?: PushConfigId): void;
  /** As it stands here, which is ahead of the store. */
  current(n: number): Lane | undefined;
  start(): Promise<void>;
  stop(ms: number): Promise<void>;
  /** Carries what the last runs have said, and begins nothing more. */
  stopReplies(ms: number): Promise<void>;
  stats(): OutboxStats;
  /** Answers on their way to where bindings want them. */
  readonly carrying: number;
}

export type OutboxWrite = Extract<Write, { readonly kind: 'outbox' }>;

export interface OutboxStats {
  /** Queues with something in them. */
  readonly pending: number;
  /** Deliveries under way. */
  readonly sending: number;
  /** Receivers that are left alone for a while. */
  readonly tripped: number;
  /** Given up on since the start. */
  readonly letters: number;
}
