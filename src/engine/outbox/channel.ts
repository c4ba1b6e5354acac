import type { Seq } from '#protocol';
import type { MaybePromise } from '../ports.ts';
import type { DeliveryKind, DeliveryOutcome } from './delivery.ts';
import type { DeliveryQueue } from './queue.ts';
import type { QueueChange } from './schedule.ts';

/**
 * `gone`: the receiver or the task no longer exists. `aborted`: the attempt was stopped and does not
 * count. `unread`: the store could not be read for the moment, and nothing was sent.
 */
export type Attempted = { readonly outcome: DeliveryOutcome; readonly seq: Seq } | 'gone' | 'aborted' | 'unread';

/** What differs between the kinds of deliveries. The dispatcher does the rest. */
export interface DeliveryChannel {
  readonly kind: DeliveryKind;
  /** Maximum number of concurrent deliveries of this kind. */
  readonly activeMax: number;
  /** Maximum number of concurrent deliveries to one receiver. */
  readonly perDestinationMax: number;
  /** Whether failing receivers are paused. */
  readonly hasBreaker: boolean;
  /** On shutdown, queues that are ready are still sent. */
  readonly drainsOnStop: boolean;
  /** No retry waits longer, even if the clock is set back. */
  readonly delayMsMax: number;
  /** The queue's config is deleted with the queue. */
  readonly ownsConfig: boolean;
  /** False: the queue is parked, for example because the agent's card no longer allows webhooks. */
  mayDeliver(queue: DeliveryQueue): boolean;
  /**
   * Name of the receiver. Deliveries to the same name share limits and retries. Undefined: the receiver
   * no longer exists. Returns a plain string where no look-up is needed, so that nothing waits.
   */
  destinationOf(queue: DeliveryQueue): MaybePromise<string | undefined>;
  /** Never rejects. */
  attempt(queue: DeliveryQueue, signal: AbortSignal): Promise<Attempted>;
  /** How the result of an attempt changes the queue. */
  judge(queue: DeliveryQueue, attempted: Exclude<Attempted, string>): QueueChange;
}
