import type { DeliveryQueue } from './queue.ts';

/**
 * Limits simultaneous deliveries, in total and to each receiver, so that a receiver that does not
 * answer delays no other.
 */
export interface Destinations {
  /** The queue is ready to send to this origin. */
  queue(queue: DeliveryQueue, origin: string): void;
  /** The next queue that may send now. It counts as active until `free`. Undefined if none may. */
  next(): DeliveryQueue | undefined;
  /**
   * The attempt is over. `isUp`: the receiver answered, even with a refusal. Undefined: the attempt
   * says nothing about the receiver.
   */
  free(queue: DeliveryQueue, isUp: boolean | undefined): void;
  drop(queue: DeliveryQueue): void;
  /** Receivers whose circuit breaker is open. */
  readonly open: number;
}

/** Options of `createDestinations`. */
export interface DestinationOptions {
  readonly activeMax: number;
  readonly perDestinationMax: number;
  /** Without a circuit breaker every failed delivery is simply retried. */
  readonly hasBreaker: boolean;
  readonly now: () => number;
  readonly later: (ms: number, work: () => void) => () => void;
  /** A circuit breaker has closed: `next` may return something. */
  readonly onReopened: () => void;
}

interface Destination {
  readonly origin: string;
  readonly waiting: Set<DeliveryQueue>;
  active: number;
  /** Consecutive failures. */
  failures: number;
  /** How often the breaker opened without a success in between. */
  trips: number;
  /** The breaker is open until then. */
  openUntil: number;
  /** The last delivery succeeded. */
  isProven: boolean;
}

/**
 * After this many consecutive failures, over all tasks, the breaker opens for a while. Then one attempt
 * decides.
 */
export const BREAKER_FAILURES = 5;
/** How long a breaker stays open the first time. It doubles for each further time. */
export const BREAKER_MS = 30_000;
/** Longest time that a breaker stays open. */
export const BREAKER_MS_MAX = 600_000;
/**
 * Receivers without a recent success may use at most this share of the deliveries, so that the others
 * always get through.
 */
const UNPROVEN_SHARE = 0.75;
/** Maximum number of idle receivers whose failures are remembered. */
const REMEMBERED_MAX = 1000;

/** Starts without receivers. They are added with their first delivery, and forgotten when idle. */
export function createDestinations(options: DestinationOptions): Destinations {
  const known = new Map<string, Destination>();
  const ready = new Set<Destination>();
  const destinationOf = new Map<DeliveryQueue, Destination>();
  let active = 0;

  const trip = (destination: Destination): void => {
    const ms = Math.min(BREAKER_MS * 2 ** destination.trips, BREAKER_MS_MAX);
    destination.trips += 1;
    destination.openUntil = options.now() + ms;
    options.later(ms, options.onReopened);
  };
  const note = (destination: Destination, isUp: boolean | undefined): void => {
    if (isUp === true) Object.assign(destination, { failures: 0, trips: 0, openUntil: 0, isProven: true });
    if (isUp === false && options.hasBreaker) {
      destination.failures += 1;
      destination.isProven = false;
      // Deliveries that were sent before the breaker opened must not extend it.
      if (destination.failures >= BREAKER_FAILURES && destination.openUntil <= options.now()) trip(destination);
    }
    const isIdle = destination.active === 0 && destination.waiting.size === 0 && destination.openUntil <= options.now();
    if (isIdle && known.size > REMEMBERED_MAX) known.delete(destination.origin);
  };
  return {
    get open() {
      const now = options.now();
      return [...known.values()].filter((destination) => destination.openUntil > now).length;
    },
    queue: (queue, origin) => {
      const found = known.get(origin);
      const destination = found ?? newDestination(origin);
      if (found === undefined) known.set(origin, destination);
      destinationOf.set(queue, destination);
      destination.waiting.add(queue);
      ready.add(destination);
    },
    next: () => {
      for (const destination of ready) {
        if (!mayStart(destination, options, active)) continue;
        const [queue] = destination.waiting;
        if (queue === undefined) continue;
        destination.waiting.delete(queue);
        // Round-robin over the receivers.
        ready.delete(destination);
        if (destination.waiting.size > 0) ready.add(destination);
        destination.active += 1;
        active += 1;
        return queue;
      }
      return undefined;
    },
    free: (queue, isUp) => {
      const destination = destinationOf.get(queue);
      if (destination === undefined) return;
      destinationOf.delete(queue);
      destination.active -= 1;
      active -= 1;
      note(destination, isUp);
    },
    drop: (queue) => {
      const destination = destinationOf.get(queue);
      if (destination === undefined || !destination.waiting.delete(queue)) return;
      destinationOf.delete(queue);
      if (destination.waiting.size === 0) ready.delete(destination);
    },
  };
}

function newDestination(origin: string): Destination {
  return { origin, waiting: new Set(), active: 0, failures: 0, trips: 0, openUntil: 0, isProven: false };
}

/**
 * Whether another delivery to this receiver may start. After repeated failures one attempt at a time
 * decides, and receivers without a recent success share a part of all slots.
 */
function mayStart(
  destination: Destination,
  { activeMax, perDestinationMax, hasBreaker, now }: DestinationOptions,
  active: number,
): boolean {
  const places = destination.isProven || !hasBreaker ? activeMax : Math.max(1, Math.floor(activeMax * UNPROVEN_SHARE));
  if (active >= places || destination.openUntil > now()) return false;
  return destination.active < (destination.failures >= BREAKER_FAILURES ? 1 : perDestinationMax);
}
