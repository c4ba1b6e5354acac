import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStream, Logged, Task, TaskEvent, TaskId } from '#protocol';
import { isInterrupted, isTerminal } from '#protocol';
import type { Connection } from '../wire/connect.ts';
import type { Session } from './session.ts';

/** Nothing more comes by itself: the task is over, or waits for somebody. UNSPECIFIED is neither (reference/cli §7). */
export function isSettled(task: Task): boolean {
  return isTerminal(task.status.state) || isInterrupted(task.status.state);
}

const FIRST_PAUSE_MS = 100;
const DEFAULT_POLL_MS = 2000;

/** Asks again and again, at growing distances up to `--poll-interval`, until the task is settled or the time is up. */
export async function poll(
  session: Session,
  connection: Connection,
  task: { readonly id: TaskId; readonly historyLength?: number },
): Promise<Task> {
  const longest = session.settings.durationMs('poll-interval') ?? DEFAULT_POLL_MS;
  let pause = Math.min(FIRST_PAUSE_MS, longest);
  let failures = 0;
  for (;;) {
    try {
      const now = await connection.service.get(task, connection.ctx());
      if (isSettled(now)) return now;
      failures = 0;
    } catch (thrown) {
      // A poll that fails on the way is worth repeating: the task goes on without us.
      failures += 1;
      if (failures > POLL_FAILURES_MAX || session.signal.aborted || !isPassing(thrown)) throw thrown;
    }
    await sleep(pause, undefined, { signal: session.signal }).catch((thrown: unknown) => {
      throw session.signal.aborted ? session.signal.reason : thrown;
    });
    pause = Math.min(pause * 2, longest);
  }
}

const POLL_FAILURES_MAX = 5;

function isPassing(thrown: unknown): boolean {
  return typeof thrown === 'object' && thrown !== null && 'kind' in thrown && thrown.kind === 'UNAVAILABLE';
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
