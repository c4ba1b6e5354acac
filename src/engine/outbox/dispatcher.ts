import { isUnavailable } from '../commit/outcome.ts';
import type { EngineClock } from '../engine-clock.ts';
import type { ReportFailure } from '../report.ts';
import type { Timers } from '../timers.ts';
import type { Attempted, DeliveryChannel } from './channel.ts';
import type { DeliveryKind } from './delivery.ts';
import type { Destinations } from './destinations.ts';
import { createDestinations } from './destinations.ts';
import type { DeliveryQueue } from './queue.ts';
import { dropReadAhead, hasWork, isComplete, notePending, reportedOf } from './queue.ts';
import type { SavedRows } from './saved-rows.ts';
import { LOOK_AGAIN_MS, LOOK_SOON_MS } from './schedule.ts';

/** What the dispatcher needs of the outbox. */
export interface DispatcherParts {
  readonly clock: EngineClock;
  readonly timers: Timers;
  readonly report: ReportFailure;
  readonly rows: SavedRows;
  readonly nextNumber: () => number;
  /** The queue has delivered everything, or was given up. */
  readonly onClosed: (queue: DeliveryQueue) => void;
}

/** The deliveries of one kind. */
interface Lane {
  readonly channel: DeliveryChannel;
  readonly destinations: Destinations;
  readonly sending: Set<Promise<void>>;
  readonly stop: AbortController;
  /** Queues whose receiver is not known yet. */
  readonly unplaced: Set<DeliveryQueue>;
  lookups: number;
  isStopping: boolean;
}

/** Simultaneous look-ups of push configs. */
const LOOKUPS_MAX = 64;

/**
 * Delivers what the queues hold: each queue in order, as many queues at the same time as the limits
 * allow.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #lanes = new Map<DeliveryKind, Lane>();
  #deadLetters = 0;

  constructor(parts: DispatcherParts, channels: readonly DeliveryChannel[]) {
    this.#parts = parts;
    for (const channel of channels) this.#lanes.set(channel.kind, this.#newLane(channel));
  }

  delivers(kind: DeliveryKind): boolean {
    return this.#lanes.has(kind);
  }

  sending(kind: DeliveryKind): number {
    return this.#lanes.get(kind)?.sending.size ?? 0;
  }

  /** Receivers whose circuit breaker is open. */
  get openBreakers(): number {
    return this.#lanes.get('webhook')?.destinations.open ?? 0;
  }

  get deadLetters(): number {
    return this.#deadLetters;
  }

  /** Looks whether the queue has something to send. */
  wake(queue: DeliveryQueue): void {
    notePending(queue, this.#parts.clock.now().ms, queue.row.failingSince);
    const lane = this.#lanes.get(queue.kind);
    if (lane === undefined || lane.isStopping || queue.phase !== 'idle') return;
    if (!hasWork(queue)) {
      if (isComplete(queue)) this.#finish(queue);
      else dropReadAhead(queue);
      return;
    }
    if (!lane.channel.mayDeliver(queue)) {
      queue.phase = 'parked';
      return;
    }
    const ms = queue.row.dueAt - this.#parts.clock.now().ms;
    if (ms > 0 && queue.row.attempts > 0) this.#wait(lane, queue, ms);
    else this.#makeReady(lane, queue);
  }

  /**
   * The config was replaced, or an operator asked for another attempt: tries at once, and counts the
   * attempts anew.
   */
  renew(queue: DeliveryQueue): void {
    const { failingSince: _, problem: __, ...row } = queue.row;
    queue.row = { ...row, attempts: 0, dueAt: this.#parts.clock.now().ms };
    this.#parts.rows.put(queue.row, queue.task);
    if (queue.phase === 'waiting') {
      queue.cancelTimer?.();
      queue.phase = 'idle';
    }
    this.wake(queue);
  }

  close(queue: DeliveryQueue): void {
    queue.cancelTimer?.();
    if (queue.phase === 'ready') this.#lanes.get(queue.kind)?.destinations.drop(queue);
    queue.phase = 'closed';
    dropReadAhead(queue);
  }

  /**
   * Waits up to `ms` for current deliveries, then aborts them. An aborted delivery does not count as an
   * attempt.
   */
  async stop(kind: DeliveryKind, ms: number): Promise<void> {
    const lane = this.#lanes.get(kind);
    if (lane === undefined) return;
    if (!lane.channel.drainsOnStop) lane.isStopping = true;
    if (lane.sending.size > 0 && ms > 0) {
      const late = Promise.withResolvers<void>();
      const cancel = this.#parts.timers.later(ms, late.resolve);
      await Promise.race([allSent(lane), late.promise]);
      cancel();
    }
    lane.isStopping = true;
    lane.stop.abort(new DOMException('The server is shutting down.', 'AbortError'));
    await Promise.allSettled(lane.sending);
    this.#parts.rows.flush();
  }

  #newLane(channel: DeliveryChannel): Lane {
    const { clock, timers } = this.#parts;
    const { activeMax, perDestinationMax, hasBreaker } = channel;
    const lane: Lane = {
      channel,
      destinations: createDestinations({
        ...{ activeMax, perDestinationMax, hasBreaker },
        now: () => clock.ticks(),
        later: timers.later,
        onReopened: () => this.#pump(lane),
      }),
      sending: new Set(),
      stop: new AbortController(),
      unplaced: new Set(),
      lookups: 0,
      isStopping: false,
    };
    return lane;
  }

  #wait(lane: Lane, queue: DeliveryQueue, ms: number): void {
    queue.phase = 'waiting';
    dropReadAhead(queue);
    queue.cancelTimer = this.#parts.timers.later(Math.min(ms, lane.channel.delayMsMax), () => {
      queue.cancelTimer = undefined;
      if (!lane.isStopping) this.#makeReady(lane, queue);
    });
  }

  #makeReady(lane: Lane, queue: DeliveryQueue): void {
    queue.phase = 'ready';
    lane.unplaced.add(queue);
    this.#place(lane);
  }

  #place(lane: Lane): void {
    while (lane.lookups < LOOKUPS_MAX && !lane.isStopping) {
      const [queue] = lane.unplaced;
      if (queue === undefined) return;
      lane.unplaced.delete(queue);
      const destination = lane.channel.destinationOf(queue);
      if (typeof destination === 'string') {
        lane.destinations.queue(queue, destination);
        this.#pump(lane);
        continue;
      }
      lane.lookups += 1;
      void this.#placeLater(lane, queue, Promise.resolve(destination)).finally(() => {
        lane.lookups -= 1;
        this.#pump(lane);
        this.#place(lane);
      });
    }
  }

  async #placeLater(lane: Lane, queue: DeliveryQueue, lookup: Promise<string | undefined>): Promise<void> {
    try {
      const destination = await lookup;
      if (queue.phase !== 'ready') return;
      if (destination === undefined) this.#finish(queue);
      else lane.destinations.queue(queue, destination);
    } catch (thrown) {
      const isSoon = isUnavailable(thrown);
      if (!isSoon) this.#parts.report('the push config of a webhook could not be read', thrown);
      if (queue.phase === 'ready') this.#wait(lane, queue, isSoon ? LOOK_SOON_MS : LOOK_AGAIN_MS);
    }
  }

  #pump(lane: Lane): void {
    while (!lane.isStopping) {
      const queue = lane.destinations.next();
      if (queue === undefined) return;
      const sent: Promise<void> = this.#send(lane, queue).finally(() => {
        lane.sending.delete(sent);
        this.#pump(lane);
      });
      lane.sending.add(sent);
    }
  }

  async #send(lane: Lane, queue: DeliveryQueue): Promise<void> {
    queue.phase = 'sending';
    const attempted = await lane.channel.attempt(queue, lane.stop.signal);
    // A receiver that answers is up, even if it refuses.
    lane.destinations.free(queue, typeof attempted === 'string' ? undefined : attempted.outcome.kind !== 'failed');
    if (queue.phase !== 'sending') return;
    queue.phase = 'idle';
    if (attempted === 'gone') this.#finish(queue);
    else if (attempted === 'unread') this.#wait(lane, queue, LOOK_SOON_MS);
    else if (attempted !== 'aborted') this.#settle(lane, queue, attempted);
  }

  #settle(lane: Lane, queue: DeliveryQueue, attempted: Exclude<Attempted, string>): void {
    const { rows, nextNumber, report, onClosed } = this.#parts;
    const { row, deadLetter, isTransient } = lane.channel.judge(queue, attempted);
    if (deadLetter !== undefined) {
      this.#deadLetters += 1;
      rows.put({ ...deadLetter, n: row === undefined ? queue.row.n : nextNumber() }, queue.task);
      report(`a webhook of task ${queue.task.id} did not accept its events`, new Error(deadLetter.problem), reportedOf(queue));
    } else if (attempted.outcome.kind === 'failed' && queue.row.attempts === 0 && queue.kind === 'webhook') {
      report('a webhook failed; it is tried again', new Error(attempted.outcome.problem), { ...reportedOf(queue), isTransient: true });
    }
    if (row === undefined) {
      this.close(queue);
      onClosed(queue);
    } else {
      if (attempted.outcome.kind === 'delivered') queue.rewind = undefined;
      if (row.done !== queue.row.done) {
        queue.head = undefined;
        queue.pendingSince = undefined;
      }
      queue.row = row;
      if (isTransient !== true) rows.put(row, queue.task);
      this.wake(queue);
    }
    if (deadLetter !== undefined) rows.flush();
  }

  #finish(queue: DeliveryQueue): void {
    const { rows, onClosed } = this.#parts;
    if (this.#lanes.get(queue.kind)?.channel.ownsConfig === true) rows.removeWithConfig(queue.row, queue.task);
    else rows.remove(queue.row, queue.task);
    this.close(queue);
    onClosed(queue);
  }
}

async function allSent({ sending }: Lane): Promise<void> {
  while (sending.size > 0) await Promise.allSettled(sending);
}
