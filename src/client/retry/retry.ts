import { CallAborted, CutOff, NotA2A, TimedOut } from '#bindings';
import type { A2AError, A2AService, EventStream } from '#protocol';
import { isA2AError } from '#protocol';
import { isClientError } from '../errors/client-error.ts';
import { networkKind } from '../errors/network.ts';
import { deferredStream, startStream } from '../streams/first-batch.ts';
import { sleep } from './sleep.ts';

/** How calls are repeated. */
export interface RetryPolicy {
  /** Maximum number of attempts, the first included. Default 4. */
  readonly tries: number;
  /** Delay before the second attempt in milliseconds; it doubles for each further one. Default 250. */
  readonly firstDelayMs: number;
  /** Longest delay in milliseconds. Default 10,000. */
  readonly maxDelayMs: number;
  /**
   * Which messages are sent again. `refused` (default): only those that were certainly not carried out.
   * `lost`: also those whose response was lost. That is safe for servers that deduplicate by
   * `Idempotency-Key` or message id, as every Parley node does.
   */
  readonly resend: 'refused' | 'lost';
  /**
   * How long an unreachable server is tried while a task runs there, in milliseconds. Default 60,000,
   * which is longer than a node takes to restart.
   */
  readonly awayMsMax: number;
  /** If the server asks for a longer delay than this (`Retry-After`), the call fails. Default 60,000. */
  readonly retryAfterMaxMs: number;
  /** Source of the jitter, for tests. */
  readonly random: () => number;
}

/** The defaults of the option `retry`. */
export const DEFAULT_RETRY: RetryPolicy = {
  tries: 4,
  firstDelayMs: 250,
  maxDelayMs: 10_000,
  resend: 'refused',
  awayMsMax: 60_000,
  retryAfterMaxMs: 60_000,
  random: Math.random,
};

/** What a repeated call can cause: nothing, or the work a second time. */
type Effect = 'none' | 'work';

/** Options of `withRetries`. */
export interface RetryOptions {
  readonly policy: RetryPolicy;
  /** Gets new credentials after a 401. Returns whether there are any. */
  readonly refresh: () => Promise<boolean>;
}

/** Repeats calls where that is safe, after a delay that doubles, with jitter. */
export function withRetries(next: A2AService, options: RetryOptions): A2AService {
  const again = <T>(effect: Effect, signal: AbortSignal, call: () => Promise<T>): Promise<T> =>
    attempt(call, { ...options, effect, signal });
  const stream = (effect: Effect, signal: AbortSignal, open: () => EventStream): EventStream =>
    opened(open, { ...options, effect, signal });
  return {
    ...next,
    send: (request, ctx) => again('work', ctx.signal, () => next.send(request, ctx)),
    stream: (request, ctx) => stream('work', ctx.signal, () => next.stream(request, ctx)),
    get: (request, ctx) => again('none', ctx.signal, () => next.get(request, ctx)),
    list: (request, ctx) => again('none', ctx.signal, () => next.list(request, ctx)),
    cancel: (request, ctx) => again('none', ctx.signal, () => next.cancel(request, ctx)),
    subscribe: (request, ctx) => stream('none', ctx.signal, () => next.subscribe(request, ctx)),
    push: {
      create: (config, ctx) => again('work', ctx.signal, () => next.push.create(config, ctx)),
      get: (request, ctx) => again('none', ctx.signal, () => next.push.get(request, ctx)),
      list: (request, ctx) => again('none', ctx.signal, () => next.push.list(request, ctx)),
      delete: (request, ctx) => again('none', ctx.signal, () => next.push.delete(request, ctx)),
    },
    extendedCard: (request, ctx) => again('none', ctx.signal, () => next.extendedCard(request, ctx)),
  };
}

interface Attempting extends RetryOptions {
  readonly effect: Effect;
  readonly signal: AbortSignal;
}

/** Repeats the call as the policy allows. After a 401 it gets new credentials once. */
async function attempt<T>(call: () => Promise<T>, attempting: Attempting): Promise<T> {
  const { policy, effect, signal, refresh } = attempting;
  let hasRefreshed = false;
  for (let tried = 1; ; tried += 1) {
    try {
      return await call();
    } catch (thrown) {
      if (!isA2AError(thrown) || signal.aborted) throw thrown;
      if (thrown.kind === 'UNAUTHENTICATED' && !hasRefreshed) {
        hasRefreshed = true;
        if (await refresh()) continue;
        throw thrown;
      }
      if (tried >= policy.tries || !mayRepeat(thrown, effect, policy)) throw thrown;
      await sleep(delayOf(thrown, tried, policy), signal);
    }
  }
}

/** A stream is opened again only until its first event. After that it is resumed, not repeated. */
function opened(open: () => EventStream, attempting: Attempting): EventStream {
  return deferredStream(() => attempt(() => startStream(open()), attempting));
}

function mayRepeat(error: A2AError, effect: Effect, policy: RetryPolicy): boolean {
  if ((error.details.retryAfterMs ?? 0) > policy.retryAfterMaxMs) return false;
  if (wasRefused(error)) return true;
  return isTransient(error) && (effect === 'none' || policy.resend === 'lost');
}

/** Certainly not carried out: nothing listened, or the server refused for now. */
export function wasRefused({ kind, cause, details }: A2AError): boolean {
  if (kind === 'RATE_LIMITED') return true;
  if (kind !== 'UNAVAILABLE' || cause instanceof CallAborted || isClientError(cause)) return false;
  if (cause instanceof NotA2A) return cause.status === 503;
  return cause === undefined ? details.retryAfterMs !== undefined : networkKind(cause) === 'refused';
}

/** The next attempt may succeed. An unknown host and a bad certificate do not change. */
export function isTransient({ kind, cause }: A2AError): boolean {
  if (kind !== 'UNAVAILABLE' || cause instanceof CallAborted || isClientError(cause)) return false;
  if (cause === undefined || cause instanceof CutOff || cause instanceof TimedOut || cause instanceof NotA2A) return true;
  const network = networkKind(cause);
  return network !== 'dns' && network !== 'tls';
}

/** The delay before the next attempt: what the server asks for, or else exponential backoff with jitter. */
export function delayOf(error: A2AError | undefined, tried: number, policy: RetryPolicy): number {
  const asked = error?.details.retryAfterMs ?? 0;
  const ceiling = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (tried - 1));
  // Jitter between half and all of it, so that clients do not retry at the same moment.
  return Math.max(asked, ceiling * (0.5 + policy.random() / 2));
}
