import type { A2AService, CallContext, Task, TaskEvent, TaskId, TaskState } from '#protocol';
import { A2AError, isA2AError, isInterrupted, isTerminal } from '#protocol';
import { sleep } from '../sleep.ts';

export interface ProxyTimeouts {
  /** How long an origin that can't be reached is waited for. */
  readonly unreachableMsMax: number;
  /** How often an origin that has no streams is asked. */
  readonly pollMs: number;
}

export const DEFAULT_PROXY_TIMEOUTS: ProxyTimeouts = { unreachableMsMax: 60_000, pollMs: 1000 };

interface Following {
  readonly service: A2AService;
  readonly id: TaskId;
  readonly ctx: CallContext;
  readonly patience: ProxyTimeouts;
}

/** Nothing more comes by itself: it is finished, or it waits for its caller. */
export function isSettled(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

export function stateIn({ task, statusUpdate }: TaskEvent): TaskState | undefined {
  return task?.status.state ?? statusUpdate?.status.state;
}

/**
 * A task at its origin until it settles: what it is now, and then what happens. A stream that ends too early, or an origin that is away for
 * a while, is gone back to; one that has no streams is asked again and again. What is told twice is for the reader to merge.
 */
export async function* follow(following: Following): AsyncGenerator<TaskEvent> {
  const { ctx, patience } = following;
  let hasStreams = true;
  let reachedAt = performance.now();
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      for await (const event of hasStreams ? streamed(following) : asked(following)) {
        reachedAt = performance.now();
        pauseMs = PAUSE_MS;
        yield event;
        if (isSettledBy(event)) return;
      }
      if (!hasStreams) pauseMs = patience.pollMs;
    } catch (thrown) {
      const isLate = performance.now() - reachedAt > patience.unreachableMsMax;
      if (ctx.signal.aborted || !isSurvivable(thrown, { hasStreams, isLate })) throw thrown;
      if (isUnsupported(thrown)) hasStreams = false;
    }
    await sleep(pauseMs, ctx.signal);
  }
}

function isSurvivable(thrown: unknown, { hasStreams, isLate }: { readonly hasStreams: boolean; readonly isLate: boolean }): boolean {
  return (hasStreams && isUnsupported(thrown)) || (isPassing(thrown) && !isLate);
}

async function* asked({ service, id, ctx }: Following): AsyncGenerator<TaskEvent> {
  yield { task: await service.get({ id }, ctx) };
}

async function* streamed(following: Following): AsyncGenerator<TaskEvent> {
  const { service, id, ctx } = following;
  const task = await service.get({ id }, ctx);
  yield { task };
  if (isSettled(task.status.state)) return;
  for await (const batch of service.subscribe({ id }, ctx)) {
    for (const { event } of batch) yield isSettledBy(event) ? await whole(following, event) : event;
  }
}

const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5000;

function isSettledBy(event: TaskEvent): boolean {
  const state = stateIn(event);
  return state !== undefined && isSettled(state);
}

/** An origin of 0.x begins no stream with a snapshot: what it said between our question and our subscription is in the task alone. */
async function whole({ service, id, ctx }: Following, event: TaskEvent): Promise<TaskEvent> {
  if (event.task !== undefined) return event;
  try {
    const task: Task = await service.get({ id }, ctx);
    return isSettled(task.status.state) ? { task } : event;
  } catch {
    return event;
  }
}

/** It may work later: the origin is restarting, or has too much to do. */
export function isPassing(thrown: unknown): boolean {
  return isA2AError(thrown) && (thrown.kind === 'UNAVAILABLE' || thrown.kind === 'RATE_LIMITED');
}

export function isUnsupported(thrown: unknown): boolean {
  return isA2AError(thrown) && ['UNSUPPORTED_OPERATION', 'STREAMING_NOT_SUPPORTED', 'METHOD_NOT_FOUND'].includes(thrown.kind);
}

/** What a caller reads of an origin's refusal. The words are the origin's; whose they are is said. */
export function originError(thrown: unknown, name: string): A2AError {
  if (!isA2AError(thrown))
    return new A2AError('INVALID_AGENT_RESPONSE', `${name} failed in a way that it did not explain`, { cause: thrown });
  const words = KNOWN[thrown.kind]?.(name) ?? `${name} refused: ${thrown.message}`;
  return new A2AError(thrown.kind, words, { ...thrown.details, cause: thrown });
}

const KNOWN: Readonly<Partial<Record<A2AError['kind'], (name: string) => string>>> = {
  UNAVAILABLE: (name) => `${name} can't be reached`,
  UNAUTHENTICATED: (name) => `${name} does not accept the credentials of this proxy`,
  PERMISSION_DENIED: (name) => `${name} does not permit this to this proxy`,
  TASK_NOT_FOUND: (name) => `${name} does not know the task any more`,
};
