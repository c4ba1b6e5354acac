import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from '#client';
import type { A2AError, EventStream, Logged, Task, TaskEvent, TaskId } from '#protocol';
import { isA2AError, isInterrupted, isTerminal } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import type { ContractSession } from './session.ts';

/** Nothing more comes by itself: the task is over, or waits for somebody. UNSPECIFIED is neither (reference/cli §7). */
export function isSettled(task: Task): boolean {
  return isTerminal(task.status.state) || isInterrupted(task.status.state);
}

const FIRST_PAUSE_MS = 100;
const DEFAULT_POLL_MS = 2000;

/** Asks again and again, at growing distances up to `--poll-interval`, until the task is settled or the time is up. */
export async function poll(
  session: ContractSession,
  connection: AgentConnection,
  task: { readonly id: TaskId; readonly historyLength?: number },
): Promise<Task> {
  const longest = session.settings.durationMs('poll-interval') ?? DEFAULT_POLL_MS;
  let distance = Math.min(FIRST_PAUSE_MS, longest);
  const backoff = new Backoff();
  for (;;) {
    let delayMs: number | undefined = 0;
    try {
      const now = await connection.service.get(task, connection.ctx());
      if (isSettled(now)) return now;
      backoff.renew();
    } catch (thrown) {
      // A poll that fails on the way is worth repeating: the task goes on without us.
      delayMs = isPassing(thrown) && !session.signal.aborted ? backoff.next(thrown) : undefined;
      if (delayMs === undefined) throw thrown;
    }
    await pause(session, Math.max(distance, delayMs));
    distance = Math.min(distance * 2, longest);
  }
}

/** Ends with the session, and says what that has ended by. */
export async function pause({ signal }: ContractSession, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((thrown: unknown) => {
    throw signal.aborted ? signal.reason : thrown;
  });
}

function isPassing(thrown: unknown): thrown is A2AError {
  return isA2AError(thrown) && thrown.kind === 'UNAVAILABLE';
}

/** What is known of a task from its events. */
export interface Seen {
  id: TaskId | undefined;
  contextId: string | undefined;
  state: string | undefined;
  settled: boolean;
  message: boolean;
}

export function nothingSeen(): Seen {
  return { id: undefined, contextId: undefined, state: undefined, settled: false, message: false };
}

export function see(seen: Seen, event: TaskEvent): void {
  if (event.message !== undefined) {
    seen.message = true;
    seen.settled = true;
    return;
  }
  const about = event.task ?? event.statusUpdate;
  seen.id = event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId ?? seen.id;
  seen.contextId = about?.contextId ?? event.artifactUpdate?.contextId ?? seen.contextId;
  if (about === undefined) return;
  seen.state = about.status.state;
  seen.settled = isTerminal(about.status.state) || isInterrupted(about.status.state);
}

export type Ended = 'settled' | 'cut';

/** Reads a stream until the task is settled. A stream that ends or breaks before is `cut`; an answer that refuses it is thrown. */
export async function follow(stream: EventStream, seen: Seen, onEvent: (event: TaskEvent) => void): Promise<Ended> {
  let started = false;
  try {
    for await (const batch of stream) {
      started = true;
      for (const { event } of batch as readonly Logged[]) {
        see(seen, event);
        onEvent(event);
        if (seen.settled) return 'settled';
      }
    }
  } catch (thrown) {
    if (!started || seen.id === undefined) throw thrown;
    return 'cut';
  }
  return 'cut';
}
