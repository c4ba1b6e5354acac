import type { Lane } from './lane.ts';

/** Who is asked how much at once, so that one receiver that does not answer holds up nobody else. */
export interface Hosts {
  /** The lane is ready to send to this origin. */
  queue(lane: Lane, origin: string): void;
  /** The next lane that may send now, its place taken; undefined if none may. */
  next(): Lane | undefined;
  /** The attempt is over. `isUp`: whatever it said, somebody was there. Undefined: it says nothing about the receiver. */
  free(lane: Lane, isUp: boolean | undefined): void;
  drop(lane: Lane): void;
  /** How many are left alone for now. */
  readonly open: number;
}

export interface HostsOptions {
  readonly activeMax: number;
  readonly perHostMax: number;
  readonly now: () => number;
  readonly later: (ms: number, work: () => void) => () => void;
  /** A receiver is asked again: `next` may have something. */
  readonly onReopened: () => void;
}

interface Host {
  readonly origin: string;
  readonly waiting: Set<Lane>;
  active: number;
  /** In a row. */
  failures: number;
  /** How often it was left alone without being heard of in between. */
  trips: number;
  /** It is left alone until then. */
  openUntil: number;
  /** The last that was heard of it was good. */
  isProven: boolean;
}

/** So many failures in a row, over all tasks, and a receiver is left alone for a while; then one attempt decides. */
export const BREAKER_FAILURES = 5;
export const BREAKER_MS = 30_000;
export const BREAKER_MS_MAX = 600_000;
/** Of the places, receivers that were not heard of lately get at most so much: the others always find one. */
const UNPROVEN_SHARE = 0.75;
const REMEMBERED_MAX = 1000;

export function createHosts(options: HostsOptions): Hosts {
  const hosts = new Map<string, Host>();
  const ready = new Set<Host>();
  const hostOf = new Map<Lane, Host>();
  let active = 0;

  const trip = (host: Host): void => {
    const ms = Math.min(BREAKER_MS * 2 ** host.trips, BREAKER_MS_MAX);
    host.trips += 1;
    host.openUntil = options.now() + ms;
    options.later(ms, options.onReopened);
  };
  const note = (host: Host, isUp: boolean | undefined): void => {
    if (isUp === true) Object.assign(host, { failures: 0, trips: 0, openUntil: 0, isProven: true });
    if (isUp === false) {
      host.failures += 1;
      host.isProven = false;
      // Those that were under way when it was tripped tell nothing new.
      if (host.failures >= BREAKER_FAILURES && host.openUntil <= options.now()) trip(host);
    }
    const isIdle = host.active === 0 && host.waiting.size === 0 && host.openUntil <= options.now();
    if (isIdle && hosts.size > REMEMBERED_MAX) hosts.delete(host.origin);
  };
  return {
    get open() {
      const now = options.now();
      return [...hosts.values()].filter((host) => host.openUntil > now).length;
    },
    queue: (lane, origin) => {
      const known = hosts.get(origin);
      const host = known ?? newHost(origin);
      if (known === undefined) hosts.set(origin, host);
      hostOf.set(lane, host);
      host.waiting.add(lane);
      ready.add(host);
    },
    next: () => {
      for (const host of ready) {
        if (!mayStart(host, options, active)) continue;
        const [lane] = host.waiting;
        if (lane === undefined) continue;
        host.waiting.delete(lane);
        // To the end of the row: everybody has a turn.
        ready.delete(host);
        if (host.waiting.size > 0) ready.add(host);
        host.active += 1;
        active += 1;
        return lane;
      }
      return undefined;
    },
    free: (lane, isUp) => {
      const host = hostOf.get(lane);
      if (host === undefined) return;
      hostOf.delete(lane);
      host.active -= 1;
      active -= 1;
      note(host, isUp);
    },
    drop: (lane) => {
      const host = hostOf.get(lane);
      if (host === undefined || !host.waiting.delete(lane)) return;
      hostOf.delete(lane);
      if (host.waiting.size === 0) ready.delete(host);
    },
  };
}

function newHost(origin: string): Host {
  return { origin, waiting: new Set(), active: 0, failures: 0, trips: 0, openUntil: 0, isProven: false };
}

function mayStart(host: Host, { activeMax, perHostMax, now }: HostsOptions, active: number): boolean {
  const places = host.isProven ? activeMax : Math.max(1, Math.floor(activeMax * UNPROVEN_SHARE));
  if (active >= places || host.openUntil > now()) return false;
  return host.active < (host.failures >= BREAKER_FAILURES ? 1 : perHostMax);
}
