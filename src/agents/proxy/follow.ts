import type { A2AService, CallContext, Task, TaskEvent, TaskId, TaskState } from '#protocol';
import { A2AError, isA2AError, isInterrupted, isTerminal } from '#protocol';
import { sleep } from '../sleep.ts';

/** Timeouts of a proxied agent, in milliseconds. */
export interface ProxyTimeouts {
  /** How long to wait for an unreachable origin before the task fails. Default 60,000. */
  readonly unreachableMsMax: number;
  /** Polling interval for an origin without streams. Default 1,000. */
  readonly pollMs: number;
}

/** A minute of unreachability, and one poll per second. */
export const DEFAULT_PROXY_TIMEOUTS: ProxyTimeouts = { unreachableMsMax: 60_000, pollMs: 1000 };

interface Following {
  readonly service: A2AService;
  readonly id: TaskId;
  readonly ctx: CallContext;
  readonly patience: ProxyTimeouts;
  /** The agent's card does not rule out streams. fasta2a answers 500 to a subscription that its card rules out. */
  readonly streams: boolean;
}

/** The task is finished, or it waits for its caller. */
export function isSettled(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** The state in an event; undefined for artifacts and messages. */
export function stateIn({ task, statusUpdate }: TaskEvent): TaskState | undefined {
  return task?.status.state ?? statusUpdate?.status.state;
}

/**
 * Follows a task at its origin until it settles: its current state, then its events. Reconnects after a
 * stream ends early or while the origin is away, and polls an origin without streams. The reader merges
 * duplicates.
 */
export async function* follow(following: Following): AsyncGenerator<TaskEvent> {
  const { ctx, patience } = following;
  let hasStreams = following.streams;
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

/**
 * Reads the task, then subscribes. The final event is replaced by the whole task, which has what
 * happened between the two calls.
 */
async function* streamed(following: Following): AsyncGenerator<TaskEvent> {
  const { service, id, ctx } = following;
  const task = await service.get({ id }, ctx);
  yield { task };
  if (isSettled(task.status.state)) return;
  for await (const batch of service.subscribe({ id }, ctx)) {
    for (const { event } of batch) yield isSettledBy(event) ? await whole(following, event) : event;
  }
}

/** Between two attempts to reach an origin: the first pause, and the longest. */
export const PAUSE_MS = 100;
export const PAUSE_MS_MAX = 5000;

function isSettledBy(event: TaskEvent): boolean {
  const state = stateIn(event);
  return state !== undefined && isSettled(state);
}

/**
 * An origin of 0.x starts no stream with a snapshot. Events between our request and our subscription
 * are only in the task.
 */
async function whole({ service, id, ctx }: Following, event: TaskEvent): Promise<TaskEvent> {
  if (event.task !== undefined) return event;
  try {
    const task: Task = await service.get({ id }, ctx);
    return isSettled(task.status.state) ? { task } : event;
  } catch {
    return event;
  }
}

/** The call may succeed later: the origin is restarting or overloaded. */
export function isPassing(thrown: unknown): boolean {
  return isA2AError(thrown) && (thrown.kind === 'UNAVAILABLE' || thrown.kind === 'RATE_LIMITED');
}

/** The origin does not have the operation. */
export function isUnsupported(thrown: unknown): boolean {
  return isA2AError(thrown) && ['UNSUPPORTED_OPERATION', 'STREAMING_NOT_SUPPORTED', 'METHOD_NOT_FOUND'].includes(thrown.kind);
}

/** The text of an origin's error for the caller, marked as the origin's. */
export function originError(thrown: unknown, name: string): A2AError {
  if (!isA2AError(thrown)) return new A2AError('INVALID_AGENT_RESPONSE', `${name} failed without an explanation`, { cause: thrown });
  const words = lateWords(thrown, name) ?? KNOWN[thrown.kind]?.(name) ?? `${name} refused: ${thrown.message}`;
  // Solace Agent Mesh says in `data.details` why (docs/dialects/sam.md, "Errors").
  const cause = thrown.details.data?.['details'];
  const said = typeof cause === 'string' && cause !== '' && !words.includes(cause) ? `${words}: ${cause}` : words;
  // The message of an internal error of ours is never shown. This one is the origin's, which chose its words.
  return new A2AError(thrown.kind === 'INTERNAL_ERROR' ? 'INVALID_AGENT_RESPONSE' : thrown.kind, said, {
    ...thrown.details,
    cause: thrown,
  });
}

/** For an origin that took too long. The client's error for that has the time as `ms`. */
function lateWords({ cause }: A2AError, name: string): string | undefined {
  if (!(cause instanceof Error) || cause.name !== 'TimedOut') return undefined;
  const within = 'ms' in cause && typeof cause.ms === 'number' ? `within ${cause.ms / 1000} s` : 'in time';
  return `${name} did not answer ${within}`;
}

const KNOWN: Readonly<Partial<Record<A2AError['kind'], (name: string) => string>>> = {
  UNAVAILABLE: (name) => `${name} can't be reached`,
  UNAUTHENTICATED: (name) => `${name} does not accept the credentials of this proxy`,
  PERMISSION_DENIED: (name) => `${name} does not permit this to this proxy`,
  TASK_NOT_FOUND: (name) => `${name} does not know the task any more`,
};
