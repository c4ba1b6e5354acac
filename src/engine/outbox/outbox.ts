import type { Ids, PushConfigId, Seq } from '#protocol';
import { isTerminal, pushConfigId, seq, seqBefore } from '#protocol';
import type { Commits } from '../commit/group-commit.ts';
import type { ContextFilter, OutboxEntry, OutboxRow, Owner, Store, TaskKey, TaskRow, Write } from '../ports.ts';
import type { CallOrigin } from '../report.ts';
import type { DeliveryChannel } from './channel.ts';
import type { DeliveryKind, ReplyPublisher, Vault, WebhookSender } from './delivery.ts';
import { Dispatcher } from './dispatcher.ts';
import type { DeliveryQueue, Progress, ReplyAddress } from './queue.ts';
import { newQueue, progressOf, REPLY_ID, replyAddressIn, replyUrl } from './queue.ts';
import type { DeliveryQueues, NewReplies } from './queues.ts';
import { createNewReplies, createQueues } from './queues.ts';
import type { ReplyParts } from './reply-channel.ts';
import { replyChannel } from './reply-channel.ts';
import type { SavedRows } from './saved-rows.ts';
import { createSavedRows } from './saved-rows.ts';
import type { WebhookChannelParts } from './webhook-channel.ts';
import { webhookChannel } from './webhook-channel.ts';

/**
 * Everything that has to be delivered to a receiver: a task's events to webhooks, and replies to a broker. Each receiver of a task has a
 * queue, which is a position in the task's log. An event has to be delivered from the commit on that saves it.
 */
export interface Outbox {
  /** Undefined: nobody can register a webhook. */
  readonly webhookSender: WebhookSender | undefined;
  readonly vault: Vault | undefined;
  /** Undefined: no binding can ask for replies. */
  readonly replyPublisher: ReplyPublisher | undefined;
  /** The write that opens the queue of a push config, or renews the queue of a replaced one. Undefined if no event can follow. */
  openWebhook(task: TaskRow, config: PushConfigId, after: Seq): OutboxWrite | undefined;
  /** The row of a queue that delivers one event to a webhook again. */
  again(task: TaskRow, config: PushConfigId, event: Seq): OutboxRow;
  /** The writes that open a queue for the replies to a message. None if the task has a queue for this address. */
  openReply(task: TaskRow, reply: ReplyAddress, asked: Seq): readonly Write[];
  /** Replies of the task are published. */
  hasReply(task: TaskKey): boolean;
  /** Reads from the store whether the row is a queue of replies. To be called before an operator's redelivery is `opened`. */
  readKind(row: OutboxRow): Promise<void>;
  /** Open webhook queues of this caller. */
  openOf(owner: Owner): number;
  /** The row is durable: start its queue. */
  opened(row: OutboxRow, task: DeliveryQueue['task'], progress: Progress): void;
  /** The task has a queue. Asked after every commit, so that tasks without one cost nothing more. */
  watches(task: TaskKey): boolean;
  /** The task has new durable events. `origin`: the request that they belong to. */
  committed(task: TaskKey, progress: Progress, origin?: CallOrigin): void;
  /** The config was deleted; without one, the task. */
  dropped(task: TaskKey, config?: PushConfigId): void;
  /** The queue in memory, which is ahead of the store. */
  current(n: number): DeliveryQueue | undefined;
  start(): Promise<void>;
  /** Reads the open queues from the store: all, or those of these cells. A queue that is here already stays as it is. */
  load(cells?: readonly number[]): Promise<void>;
  /** Another process has the queues of these tasks from now on. */
  lose(isLost: (task: ContextFilter) => boolean): void;
  /** Saves the positions of all queues with the next commit. Returns the tasks to whose receivers something is being sent. */
  pause(): readonly ContextFilter[];
  /** Ends the deliveries of one kind. Current ones have `ms` to finish. */
  stop(kind: DeliveryKind, ms: number): Promise<void>;
  stats(): WebhookStats;
  /** Replies that are being published. */
  readonly publishing: number;
}

/** The write of a queue's row. */
export type OutboxWrite = Extract<Write, { readonly kind: 'outbox' }>;

/** Figures about webhooks, for metrics. */
export interface WebhookStats {
  /** Queues with undelivered events. */
  readonly pending: number;
  /** The age of the oldest undelivered event in milliseconds. 0 if there is none. */
  readonly oldestMs: number;
  /** Current deliveries. */
  readonly sending: number;
  /** Receivers whose circuit breaker is open. */
  readonly tripped: number;
  /** Deliveries given up since the start. */
  readonly letters: number;
}

/** What the outbox needs of the engine. */
export interface OutboxParts extends WebhookChannelParts, ReplyParts {
  readonly webhookSender: WebhookSender | undefined;
  readonly replyPublisher: ReplyPublisher | undefined;
  readonly store: WebhookChannelParts['store'] & ReplyParts['store'] & Pick<Store, 'outbox' | 'outboxStats' | 'reserveKeys'>;
  readonly commits: Pick<Commits, 'add'>;
  readonly ids: Ids;
  /** For the numbers of queues, where several processes make them. */
  readonly nextKey: () => number;
}

const PAGE = 1000;

/** `partsOf` is first called by `start`: the table of tasks, which the outbox reads, itself needs the outbox. */
export function createOutbox(partsOf: () => OutboxParts, { webhookSender, replyPublisher, vault }: OutboxPorts): Outbox {
  const queues = createQueues();
  const newReplies = createNewReplies();
  let lastNumber = 0;
  const nextNumber = (): number => {
    const { store, nextKey } = partsOf();
    if (store.reserveKeys !== undefined) return nextKey();
    lastNumber += 1;
    return lastNumber;
  };
  let dispatcher: Dispatcher | undefined;
  let rows: SavedRows | undefined;
  return {
    webhookSender,
    replyPublisher,
    vault,
    openWebhook: (task, config, after) => {
      const known = queues.mainOf(task.key, config)?.row;
      if (known === undefined && isTerminal(task.state)) return undefined;
      const dueAt = partsOf().clock.now().ms;
      // Events that were not delivered to the old address go to the new one.
      const position = known === undefined ? { n: nextNumber(), done: after } : { n: known.n, done: known.done };
      return { kind: 'outbox', row: { ...position, task: task.key, config, state: 'open', attempts: 0, dueAt } };
    },
    again: (task, config, event) => ({
      ...{ n: nextNumber(), task: task.key, config, done: seqBefore(event), upTo: event },
      ...{ state: 'open', attempts: 0, dueAt: partsOf().clock.now().ms },
    }),
    openReply: (task, reply, asked) => {
      if (joinsQueue(queues, newReplies, { task, reply, asked })) return [];
      const n = nextNumber();
      newReplies.add(n, { task: task.key, reply });
      return replyWrites(partsOf(), { task, reply, asked }, n);
    },
    hasReply: (task) => newReplies.hasAny(task) || queues.of(task).some(({ reply }) => reply !== undefined),
    readKind: async (row) => {
      const reply = await storedReply(partsOf(), row);
      if (reply !== undefined) newReplies.add(row.n, { task: row.task, reply });
    },
    openOf: queues.openOf,
    ...following(queues, newReplies, () => dispatcher),
    current: queues.byNumber,
    start: async () => {
      const parts = partsOf();
      ({ last: lastNumber } = await parts.store.outboxStats());
      if (webhookSender === undefined && replyPublisher === undefined) return;
      rows = createSavedRows(parts.commits, parts.timers);
      dispatcher = new Dispatcher({ ...parts, rows, nextNumber, onClosed: queues.remove }, channelsOf(parts));
    },
    load: async (cells) => {
      if (dispatcher !== undefined) await loadQueues(partsOf(), { dispatcher, queues, cells });
    },
    pause: () => {
      rows?.flush();
      return [...queues.all()].filter(({ phase }) => phase === 'sending').map(({ task }) => task);
    },
    stop: async (kind, ms) => dispatcher?.stop(kind, ms),
    get publishing() {
      return dispatcher?.sending('reply') ?? 0;
    },
    stats: () => ({
      pending: queues.pending(),
      oldestMs: ageOf(queues.pendingSince(), partsOf),
      sending: dispatcher?.sending('webhook') ?? 0,
      tripped: dispatcher?.openBreakers ?? 0,
      letters: dispatcher?.deadLetters ?? 0,
    }),
  };
}

function ageOf(since: number | undefined, partsOf: () => OutboxParts): number {
  return since === undefined ? 0 : Math.max(0, partsOf().clock.now().ms - since);
}

/** The ports to the outside, each of them optional. */
export type OutboxPorts = Pick<Outbox, 'webhookSender' | 'replyPublisher' | 'vault'>;

function channelsOf(parts: OutboxParts): readonly DeliveryChannel[] {
  return [
    ...(parts.webhookSender === undefined ? [] : [webhookChannel(parts, parts.webhookSender)]),
    ...(parts.replyPublisher === undefined ? [] : [replyChannel(parts, parts.replyPublisher)]),
  ];
}

/** What happens to tasks, and so to their queues. */
function following(
  queues: DeliveryQueues,
  newReplies: NewReplies,
  dispatcherOf: () => Dispatcher | undefined,
): Pick<Outbox, 'opened' | 'watches' | 'committed' | 'dropped' | 'lose'> {
  const close = (queue: DeliveryQueue): void => {
    dispatcherOf()?.close(queue);
    queues.remove(queue);
  };
  return {
    opened: (row, task, progress) => {
      const dispatcher = dispatcherOf();
      const known = queues.of(task.key).find((queue) => queue.row.n === row.n);
      if (known === undefined) dispatcher?.wake(queues.add(newQueue({ row, task, progress, reply: newReplies.take(row.n) })));
      else dispatcher?.renew(known);
    },
    watches: queues.has,
    committed: (task, progress, origin) => {
      for (const queue of queues.of(task)) {
        queue.progress = progress;
        queue.origin = origin ?? queue.origin;
        dispatcherOf()?.wake(queue);
      }
    },
    dropped: (task, config) => {
      for (const queue of queues.of(task)) if (config === undefined || queue.row.config === config) close(queue);
    },
    lose: (isLost) => {
      for (const queue of [...queues.all()]) if (isLost(queue.task)) close(queue);
    },
  };
}

interface ReplyRequest {
  readonly task: TaskRow;
  readonly reply: ReplyAddress;
  readonly asked: Seq;
}

/** The writes that open a queue of replies. They are part of the commit that accepts the message. */
function replyWrites({ ids, clock }: OutboxParts, { task, reply, asked }: ReplyRequest, n: number): readonly Write[] {
  const id = pushConfigId(`${REPLY_ID}${ids.next()}`);
  const done = seqBefore(asked); // the first event that the sender gets is the one with its own message
  const push = { config: { id, url: replyUrl(reply) }, dialect: reply.dialect, after: done };
  const row = { n, done, task: task.key, config: id, state: 'open', attempts: 0, dueAt: clock.now().ms } as const;
  return [
    { kind: 'push', task: task.key, push },
    { kind: 'outbox', row },
  ];
}

/** Whether the task already has a queue for this address. That queue answers this message too, and stays open until it has. */
function joinsQueue(queues: DeliveryQueues, newReplies: NewReplies, { task, reply, asked }: ReplyRequest): boolean {
  const known = queues.of(task.key).find((queue) => queue.reply?.to === reply.to && queue.phase !== 'closed');
  if (known !== undefined) {
    known.asked = asked;
    // A repeated send may have missed everything that is being published now.
    if (known.phase === 'sending' && known.joined === asked) known.rewind = seq(Math.min(known.rewind ?? asked, asked - 1));
    known.joined = asked;
  }
  return known !== undefined || newReplies.has(task.key, reply);
}

interface Loading {
  readonly dispatcher: Dispatcher;
  readonly queues: DeliveryQueues;
  readonly cells: readonly number[] | undefined;
}

async function loadQueues(parts: OutboxParts, { dispatcher, queues, cells }: Loading): Promise<void> {
  for await (const { row, task } of openEntries(parts, cells)) {
    const reply = row.config.startsWith(REPLY_ID) ? await storedReply(parts, row) : undefined;
    const queue = newQueue({ row, task, progress: progressOf(task), reply });
    if (queues.byNumber(row.n) === undefined && dispatcher.delivers(queue.kind)) dispatcher.wake(queues.add(queue));
  }
}

async function* openEntries({ store }: OutboxParts, cells: readonly number[] | undefined): AsyncGenerator<OutboxEntry> {
  for (let after = 0; ; ) {
    const page = await store.outbox({ state: 'open', after, limit: PAGE, ...(cells === undefined ? {} : { cells }) });
    yield* page;
    after = page.at(-1)?.row.n ?? after;
    if (page.length < PAGE) return;
  }
}

async function storedReply({ store }: OutboxParts, { task, config }: OutboxRow): Promise<ReplyAddress | undefined> {
  const push = (await store.pushConfigs(task)).find((each) => each.config.id === config);
  return push === undefined ? undefined : replyAddressIn(push);
}
