import { CallAborted, CutOff } from '#bindings';
import type { A2AService, CallContext, EventStream, Logged, Operation, Task, TaskId } from '#protocol';
import { A2AError, isA2AError } from '#protocol';
import { isSettled } from '../calls/request.ts';
import { Backoff } from '../retry/backoff.ts';
import type { RetryPolicy } from '../retry/retry.ts';
import { isTransient } from '../retry/retry.ts';
import { sleep } from '../retry/sleep.ts';
import { pollUntilSettled } from './poll.ts';
import { StreamProgress } from './progress.ts';

/** Options of `withStreamResumption`. */
export interface ResumeOptions {
  readonly policy: RetryPolicy;
  readonly has: (operation: Operation) => boolean;
}

/**
 * Resumes streams after a lost connection. A server that numbers its events is asked for those after the last one. To another the client
 * subscribes again and turns what is new in the snapshot into events. An agent without subscriptions is polled until the task is settled.
 */
export function withStreamResumption(next: A2AService, options: ResumeOptions): A2AService {
  return {
    ...next,
    stream: (request, ctx) => resumed(next.stream(request, ctx), new StreamProgress(), { ...options, next, ctx }),
    subscribe: (request, ctx) => {
      const seen = new StreamProgress();
      seen.taskId = request.id;
      seen.after = request.after;
      return resumed(next.subscribe(request, ctx), seen, { ...options, next, ctx });
    },
  };
}

interface Resuming extends ResumeOptions {
  readonly next: A2AService;
  readonly ctx: CallContext;
}

/** Where events come from: the first stream, a new subscription, or polling. */
type Mode = 'first' | 'subscribe' | 'poll';

/** The connection that a stream currently reads from. */
interface StreamSource {
  source: EventStream;
  mode: Mode;
  readonly backoff: Backoff;
  /** The failure that is being repaired. Thrown if that does not succeed. */
  cut: A2AError | undefined;
}

/** Yields new events over as many connections as it takes. */
async function* resumed(first: EventStream, seen: StreamProgress, resuming: Resuming): AsyncGenerator<readonly Logged[], void> {
  const current: StreamSource = { source: first, mode: 'first', backoff: new Backoff(resuming.policy), cut: undefined };
  for (;;) {
    const failed = yield* fresh(current, seen, resuming);
    if (seen.isOver || (failed === undefined && seen.isSettled)) return;
    await reconnect(current, failed, { ...resuming, seen });
  }
}

/** Yields the news of one connection. Returns its failure, if the stream can be resumed after it. */
async function* fresh(
  current: StreamSource,
  seen: StreamProgress,
  resuming: Resuming,
): AsyncGenerator<readonly Logged[], A2AError | undefined> {
  try {
    for await (const batch of current.source) {
      const news = seen.isUncertain ? await checked(batch, seen, resuming) : seen.take(batch);
      if (news.length === 0) continue;
      current.backoff.renew();
      yield news;
    }
    return undefined;
  } catch (thrown) {
    if (!isA2AError(thrown)) throw thrown;
    if (seen.isOver || mayResume(thrown, current.mode)) return thrown;
    throw current.cut === undefined || isFinal(thrown) ? thrown : current.cut;
  }
}

/**
 * Chooses the next way to follow the task (subscribe, then poll), and waits before it is used. Throws
 * the failure of the lost connection if there is no way left.
 */
async function reconnect(
  current: StreamSource,
  failed: A2AError | undefined,
  resuming: Resuming & { readonly seen: StreamProgress },
): Promise<void> {
  const { ctx, seen } = resuming;
  const stopped = failed ?? new A2AError('UNAVAILABLE', 'the stream stopped before its end', { cause: new CutOff('stream', undefined) });
  const cut = isTransient(stopped) ? stopped : (current.cut ?? stopped);
  const following = nextMode(current.mode, failed, resuming);
  if (seen.taskId === undefined || following === undefined) throw cut;
  const delayMs = current.backoff.next(failed);
  if (delayMs === undefined) throw cut;
  current.cut = cut;
  if (following === current.mode || current.mode === 'first') await sleep(delayMs, ctx.signal);
  current.mode = following;
  seen.reconnected(following === 'poll');
  current.source = following === 'poll' ? polled(seen.taskId, resuming) : subscribed(seen.taskId, seen, resuming);
}

/** A lost connection can be resumed. A refused subscription still leaves polling. */
function mayResume(error: A2AError, mode: Mode): boolean {
  return isTransient(error) || (mode === 'subscribe' && !isFinal(error));
}

/** No other attempt helps: the credentials were rejected, or the caller aborted. */
function isFinal({ kind, cause }: A2AError): boolean {
  return kind === 'UNAUTHENTICATED' || kind === 'PERMISSION_DENIED' || cause instanceof CallAborted;
}

function nextMode(mode: Mode, failed: A2AError | undefined, { has }: Resuming): Mode | undefined {
  const wasRefused = mode === 'subscribe' && failed !== undefined && !isTransient(failed);
  if (mode !== 'poll' && !wasRefused && has('subscribe')) return 'subscribe';
  return has('get') ? 'poll' : undefined;
}

function subscribed(id: TaskId, { after }: StreamProgress, { next, ctx }: Resuming): EventStream {
  return next.subscribe(after === undefined ? { id } : { id, after }, ctx);
}

/** Polls the task. Every answer is a snapshot. */
async function* polled(id: TaskId, { next, ctx }: Resuming): AsyncGenerator<readonly Logged[], void> {
  const task = await next.get({ id }, ctx);
  yield [{ event: { task } }];
  for await (const later of pollUntilSettled(next, task, ctx)) yield [{ event: { task: later } }];
}

/**
 * For a server without cursors. Events between its snapshot and its next event are in no stream, so the task is read once more before the
 * last state is reported.
 */
async function checked(batch: readonly Logged[], seen: StreamProgress, resuming: Resuming): Promise<readonly Logged[]> {
  const news: Logged[] = [];
  for (const logged of batch) {
    const { task, statusUpdate } = logged.event;
    if (task !== undefined) {
      news.push(...seen.reconciled(task));
      continue;
    }
    const whole =
      statusUpdate !== undefined && seen.settles(statusUpdate.status) ? await settled(statusUpdate.taskId, resuming) : undefined;
    news.push(...(whole === undefined ? seen.take([logged]) : seen.reconciled(whole)));
  }
  return news;
}

/** The task once its stored state is settled too. Some servers inform their readers before they store the state. */
async function settled(id: TaskId, { next, ctx, has }: Resuming): Promise<Task | undefined> {
  if (!has('get')) return undefined;
  for (const pauseMs of [0, 20, 80, 320]) {
    await sleep(pauseMs, ctx.signal);
    const task = await next.get({ id }, ctx).catch(() => undefined);
    if (task === undefined || isSettled(task.status.state)) return task;
  }
  return undefined;
}
