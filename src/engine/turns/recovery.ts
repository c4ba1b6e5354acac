import { isInterrupted } from '#protocol';
import type { TaskRow } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { TurnParts } from './parts.ts';
import { startTurn } from './run.ts';
import type { StopReason } from './stop.ts';
import { stopTask } from './stop.ts';

/** What recovery did, in numbers of tasks. */
export interface Recovered {
  /** Tasks that keep waiting for their caller. */
  readonly waiting: number;
  /** Turns that were started or repeated. */
  readonly started: number;
  /**
   * Tasks that were failed: their agent is gone, does not repeat interrupted work, or had too many
   * attempts.
   */
  readonly ended: number;
  /** Tasks that stay as they are because their agent is not served now (`missingAgents: 'wait'`). */
  readonly absent: number;
}

/**
 * After a start: tasks that wait for their caller keep waiting. Every other unfinished task is started,
 * repeated or failed, as its agent's `recovery` says, so that no task of a served agent stays `working`
 * without a run.
 * All failures are durable when this resolves.
 */
export async function recover(parts: TurnParts): Promise<Recovered> {
  const counts = { waiting: 0, started: 0, ended: 0, absent: 0 };
  for (const row of await parts.store.unfinished()) {
    if (parts.missingAgents === 'wait' && !parts.agents.has(row.agent)) {
      counts.absent += 1;
      continue;
    }
    const waits = isInterrupted(row.state);
    if (waits && (await mayWait(parts, row))) {
      counts.waiting += 1;
      continue;
    }
    const task = await parts.tasks.hold('any', row.id);
    if (task === undefined) continue;
    const reason = waits ? 'lost' : whyEnded(parts, row);
    if (reason === undefined) {
      counts.started += 1;
      repeat(parts, task);
    } else {
      counts.ended += 1;
      stopTask(parts, task, reason);
    }
    task.release();
  }
  if (counts.ended > 0) await parts.commits.settled();
  return counts;
}

/**
 * An agent whose conversations end with the process can't use an answer. An agent that can't tell is
 * assumed to be able to.
 */
async function mayWait({ agents, report }: TurnParts, { agent: name, contextId, owner }: TaskRow): Promise<boolean> {
  try {
    return (await agents.get(name)?.keepsWaiting?.({ contextId, principal: owner.principal })) ?? true;
  } catch (thrown) {
    report(`agent ${name} could not say whether it can continue`, thrown);
    return true;
  }
}

/**
 * Why a turn of the previous process must end. Undefined: it can be started. That holds for every turn
 * that had not started, also if the agent's `recovery` is `fail`.
 */
function whyEnded({ agents, limits }: TurnParts, { agent: name, attempt }: TaskRow): StopReason | undefined {
  const agent = agents.get(name);
  if (agent === undefined) return 'orphaned';
  if (attempt === 0) return undefined;
  if (agent.recovery === 'fail') return 'interrupted';
  return attempt >= limits.attemptsMax ? 'given up' : undefined;
}

/**
 * Each further attempt waits longer, so that other tasks run first. `startTurn` saves the attempt
 * before the agent runs.
 */
function repeat(parts: TurnParts, task: LiveTask): void {
  const { attempt } = task.row;
  startTurn(parts, task, attempt === 0 ? { again: true } : { again: true, delayMs: parts.limits.retryMs * attempt ** 2 });
}
