import { CutOff, Left } from '#bindings';
import type { A2AService, CallContext, EventStream, Logged, Operation, Task, TaskId } from '#protocol';
import { A2AError, isA2AError } from '#protocol';
import { isAtRest } from '../calls/request.ts';
import { Patience } from '../retry/backoff.ts';
import type { RetryPolicy } from '../retry/retry.ts';
import { isTransient } from '../retry/retry.ts';
import { sleep } from '../retry/sleep.ts';
import { untilRest } from './poll.ts';
import { Seen } from './progress.ts';

export interface HealOptions {
  readonly policy: RetryPolicy;
  readonly has: (operation: Operation) => boolean;
}

/**
 * Streams that go on after a cut. A peer that numbers its events is asked for those after the last; another is subscribed to again, and
 * what its snapshot has that we have not is told as events; one that can't be subscribed to is asked until the task rests.
 */
export function healing(next: A2AService, options: HealOptions): A2AService {
  return {
    ...next,
    stream: (request, ctx) => healed(next.stream(request, ctx), new Seen(), { ...options, next, ctx }),
    subscribe: (request, ctx) => {
      const seen = new Seen();
      seen.taskId = request.id;
      seen.after = request.after;
      return healed(next.subscribe(request, ctx), seen, { ...options, next, ctx });
    },
  };
}

interface Healing extends HealOptions {
  readonly next: A2AService;
  readonly ctx: CallContext;
}

type Manner = 'first' | 'subscribe' | 'poll';

/** Where a stream comes from now. */
interface Course {
  source: EventStream;
  manner: Manner;
  readonly patience: Patience;
  /** What has to be healed; told if it can't be. */
  cut: A2AError | undefined;
}

async function* healed(first: EventStream, seen: Seen, healing: Healing): AsyncGenerator<readonly Logged[], void> {
  const course: Course = { source: first, manner: 'first', patience: new Patience(healing.policy), cut: undefined };
  for (;;) {
    const failed = yield* fresh(course, seen, healing);
    if (seen.isOver || (failed === undefined && seen.isAtRest)) return;
    await takeUp(course, failed, { ...healing, seen });
  }
}

/** What one connection brings, and how it failed, if it did and that can be healed. */
async function* fresh(course: Course, seen: Seen, healing: Healing): AsyncGenerator<readonly Logged[], A2AError | undefined> {
  try {
    for await (const batch of course.source) {
      const news = seen.isBlind ? await checked(batch, seen, healing) : seen.take(batch);
      if (news.length === 0) continue;
      course.patience.renew();
      yield news;
    }
    return undefined;
  } catch (thrown) {
    if (!isA2AError(thrown)) throw thrown;
    if (seen.isOver || mayHeal(thrown, course.manner)) return thrown;
    throw course.cut === undefined || isOurs(thrown) ? thrown : course.cut;
  }
}

async function takeUp(course: Course, failed: A2AError | undefined, healing: Healing & { readonly seen: Seen }): Promise<void> {
  const { ctx, seen } = healing;
  const stopped = failed ?? new A2AError('UNAVAILABLE', 'the stream stopped before its end', { cause: new CutOff('stream', undefined) });
  const cut = isTransient(stopped) ? stopped : (course.cut ?? stopped);
  const following = nextManner(course.manner, failed, healing);
  if (seen.taskId === undefined || following === undefined) throw cut;
  const delayMs = course.patience.next(failed);
  if (delayMs === undefined) throw cut;
  course.cut = cut;
  if (following === course.manner || course.manner === 'first') await sleep(delayMs, ctx.signal);
  course.manner = following;
  seen.comeBack(following === 'poll');
  course.source = following === 'poll' ? polled(seen.taskId, healing) : subscribed(seen.taskId, seen, healing);
}

/** After a cut anything may be tried; a refusal of one manner leaves the next. */
function mayHeal(error: A2AError, manner: Manner): boolean {
  return isTransient(error) || (manner === 'subscribe' && !isOurs(error));
}

/** The same whatever is tried: who we are, and that we left. */
function isOurs({ kind, cause }: A2AError): boolean {
  return kind === 'UNAUTHENTICATED' || kind === 'PERMISSION_DENIED' || cause instanceof Left;
}

function nextManner(manner: Manner, failed: A2AError | undefined, { has }: Healing): Manner | undefined {
  const wasRefused = manner === 'subscribe' && failed !== undefined && !isTransient(failed);
  if (manner !== 'poll' && !wasRefused && has('subscribe')) return 'subscribe';
  return has('get') ? 'poll' : undefined;
}

function subscribed(id: TaskId, { after }: Seen, { next, ctx }: Healing): EventStream {
  return next.subscribe(after === undefined ? { id } : { id, after }, ctx);
}

/** The task as it stands, each time anew: every answer is a snapshot. */
async function* polled(id: TaskId, { next, ctx }: Healing): AsyncGenerator<readonly Logged[], void> {
  const task = await next.get({ id }, ctx);
  yield [{ event: { task } }];
  for await (const later of untilRest(next, task, ctx)) yield [{ event: { task: later } }];
}

/**
 * From a peer without cursors. What fell between its snapshot and its next event is in nobody's stream, so before the last state is
 * told the task is looked at once more.
 */
async function checked(batch: readonly Logged[], seen: Seen, healing: Healing): Promise<readonly Logged[]> {
  const news: Logged[] = [];
  for (const logged of batch) {
    const { task, statusUpdate } = logged.event;
    if (task !== undefined) {
      news.push(...seen.reconciled(task));
      continue;
    }
    const whole =
      statusUpdate !== undefined && seen.wouldRest(statusUpdate.status) ? await settled(statusUpdate.taskId, healing) : undefined;
    news.push(...(whole === undefined ? seen.take([logged]) : seen.reconciled(whole)));
  }
  return news;
}

/** The task once its store says as well that it rests: some tell their readers first. */
async function settled(id: TaskId, { next, ctx, has }: Healing): Promise<Task | undefined> {
  if (!has('get')) return undefined;
  for (const pauseMs of [0, 20, 80, 320]) {
    await sleep(pauseMs, ctx.signal);
    const task = await next.get({ id }, ctx).catch(() => undefined);
    if (task === undefined || isAtRest(task.status.state)) return task;
  }
  return undefined;
}
