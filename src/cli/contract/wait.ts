import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff, DEFAULT_RETRY } from '#client';
import type { A2AError, EventStream, Logged, Task, TaskEvent, TaskId } from '#protocol';
import { isA2AError, isInterrupted, isTerminal } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import type { ContractSession } from './session.ts';

/** The task is over, or waits for the caller. UNSPECIFIED is neither (A2A CLI specification §7). */
export function isSettled(task: Task): boolean {
  return isTerminal(task.status.state) || isInterrupted(task.status.state);
}

const DEFAULT_POLL_MS = 2000;

/** Polls every `--poll-interval` until the task is settled or `--timeout` has passed. An agent that can't be reached is asked less often. */
export async function poll(
  session: ContractSession,
  connection: AgentConnection,
  task: { readonly id: TaskId; readonly historyLength?: number },
): Promise<Task> {
  const intervalMs = session.settings.durationMs('poll-interval') ?? DEFAULT_POLL_MS;
  const backoff = new Backoff();
  const noteRetries = noteOnce(session, connection);
  for (;;) {
    let delayMs: number | undefined = 0;
    try {
      const now = await connection.service.get(task, connection.ctx());
      if (isSettled(now)) return now;
      backoff.renew();
      noteRetries.renew();
    } catch (thrown) {
      // A failed poll is repeated: the task still runs.
      delayMs = isTransient(thrown) && !session.signal.aborted ? backoff.next(thrown) : undefined;
      if (delayMs === undefined) throw thrown;
      noteRetries.note();
    }
    await pause(session, Math.max(intervalMs, delayMs));
  }
}

/** Says once that the agent is tried again, and until when. */
export function noteOnce(session: ContractSession, { url }: AgentConnection): { note(): void; renew(): void } {
  let isNoted = false;
  return {
    note: () => {
      if (isNoted) return;
      isNoted = true;
      const until = new Date(Date.now() + DEFAULT_RETRY.awayMsMax).toISOString().slice(11, 19);
      session.note(`warning: ${new URL(url).host} can't be reached; trying again until ${until} UTC; Ctrl-C ends this\n`);
    },
    renew: () => {
      isNoted = false;
    },
  };
}

/** Sleeps. Throws the signal's reason if `--timeout` passes. */
export async function pause({ signal }: ContractSession, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((thrown: unknown) => {
    throw signal.aborted ? signal.reason : thrown;
  });
}

function isTransient(thrown: unknown): thrown is A2AError {
  return isA2AError(thrown) && thrown.kind === 'UNAVAILABLE';
}

/** What a reader knows about a task from its events. */
export interface TaskProgress {
  id: TaskId | undefined;
  contextId: string | undefined;
  state: string | undefined;
  settled: boolean;
  message: boolean;
}

export function nothingSeen(): TaskProgress {
  return { id: undefined, contextId: undefined, state: undefined, settled: false, message: false };
}

/** Updates the progress with an event. */
export function see(seen: TaskProgress, event: TaskEvent): void {
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

/** How a stream ended: the task is settled, or the connection was lost. */
export type Ended = 'settled' | 'cut';

/** Reads a stream until the task is settled. Returns `cut` if it ends before. Throws if the agent refuses it. */
export async function follow(stream: EventStream, seen: TaskProgress, onEvent: (event: TaskEvent) => void): Promise<Ended> {
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
