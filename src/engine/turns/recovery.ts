import type { AdminRestart } from '#protocol';
import { isInterrupted, isTerminal } from '#protocol';
import { ElsewhereError } from '../cells.ts';
import type { TaskRow } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { TurnParts } from './parts.ts';
import type { RestartPlan } from './restarts.ts';
import { createRestarts, planRestarts, WAITING_ATTEMPT } from './restarts.ts';
import type { AloneStart } from './run.ts';
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
  /** Of the started turns, those that are repeated one at a time, because the process has died twice in a row. */
  readonly oneAtATime: number;
  /** Tasks that stay as they are because their agent is not served now (`missingAgents: 'wait'`). */
  readonly absent: number;
}

/** No task was recovered. */
export const NOTHING_RECOVERED: Recovered = { waiting: 0, started: 0, ended: 0, oneAtATime: 0, absent: 0 };

export function addRecovered(one: Recovered, other: Recovered): Recovered {
  return {
    waiting: one.waiting + other.waiting,
    started: one.started + other.started,
    ended: one.ended + other.ended,
    oneAtATime: one.oneAtATime + other.oneAtATime,
    absent: one.absent + other.absent,
  };
}

/** Which tasks are recovered, and after what. */
export interface RecoveryScope {
  /** Default `restart`. */
  readonly after?: 'restart' | 'cut off';
  /** Only tasks in these cells. */
  readonly cells?: readonly number[];
  /** Whether this process has stopped the run itself, and lives. The attempt does not count against the task. */
  readonly isStoppedHere?: (row: TaskRow) => boolean;
}

/**
 * After a start, or after the lease of the store was lost for a while: tasks that wait for their caller
 * keep waiting. Every other unfinished task is started, repeated or failed, as its agent's `recovery`
 * says, so that no task of a served agent stays `working` without a run. Tasks that have a run keep it.
 * All failures are durable when this resolves, unless the disk is full: reads must be served then too.
 */
export async function recover(parts: TurnParts, { after = 'restart', cells, isStoppedHere }: RecoveryScope = {}): Promise<Recovered> {
  const unfinished = await parts.store.unfinished(cells);
  const absent = await absentAgents(parts, unfinished);
  const rows = unfinished
    .filter(({ agent }) => !absent.has(agent))
    .map((row) => (isStoppedHere?.(row) === true ? { ...row, attempt: Math.min(row.attempt, 1) } : row));
  const counts = { waiting: 0, started: 0, ended: 0, oneAtATime: 0, absent: unfinished.length - rows.length };
  const plan = planFor(parts, rows);
  const restarts = plan.isOneAtATime ? createRestarts(plan.isStrict, parts) : undefined;
  const alone = restarts === undefined ? undefined : { restarts, isStrict: plan.isStrict };
  try {
    for (const row of new Set([...plan.suspects, ...rows])) {
      const waits = isInterrupted(row.state);
      if (waits && (await mayWait(parts, row))) {
        counts.waiting += 1;
        parts.waiting.note(row);
        continue;
      }
      const task = await holdInterrupted(parts, row);
      if (task === undefined) continue;
      const reason = waits ? 'lost' : endAfter(after, whyEnded(parts, row, plan.guilty));
      if (reason === undefined) {
        counts.started += 1;
        counts.oneAtATime += alone !== undefined && row.attempt > 0 ? 1 : 0;
        task.setAttempt(Math.min(task.row.attempt, row.attempt));
        repeat(parts, task, alone);
      } else {
        counts.ended += 1;
        stopTask(parts, task, reason);
      }
      task.release();
    }
    if (counts.ended + counts.oneAtATime > 0) await settledUnlessFull(parts);
  } finally {
    // Also if the store fails: the next recovery leaves tasks alone that have a run, so nobody else would start these.
    restarts?.next();
  }
  return counts;
}

function endAfter(after: 'restart' | 'cut off', reason: StopReason | undefined): StopReason | undefined {
  return reason === 'interrupted' && after === 'cut off' ? after : reason;
}

/** The agents whose tasks are left alone: they are not here, and the options say so, or another process may have them. */
async function absentAgents({ agents, missingAgents, store }: TurnParts, rows: readonly TaskRow[]): Promise<ReadonlySet<string>> {
  const missing = new Set(rows.map(({ agent }) => agent).filter((agent) => !agents.has(agent)));
  if (missing.size === 0 || missingAgents === 'wait') return missing;
  if (store.cells === undefined) return new Set();
  for (const agent of await store.cells.abandoned([...missing])) missing.delete(agent);
  return missing;
}

/** Undefined if the task has a run, or has ended since its row was read, or belongs to another process by now. */
async function holdInterrupted({ tasks }: TurnParts, { id }: TaskRow): Promise<LiveTask | undefined> {
  const task = await tasks.hold('any', id, 'recover').catch(ifElsewhere);
  if (task === undefined || (task.run === undefined && !isTerminal(task.row.state))) return task;
  task.release();
  return undefined;
}

function ifElsewhere(thrown: unknown): undefined {
  if (!(thrown instanceof ElsewhereError)) throw thrown;
}

async function settledUnlessFull({ commits }: TurnParts): Promise<void> {
  try {
    await commits.settled();
  } catch (thrown) {
    if (!commits.isStalled) throw thrown;
  }
}

function planFor(parts: TurnParts, rows: readonly TaskRow[]): RestartPlan {
  const atWork = rows.filter(({ state, attempt }) => attempt > 0 && !isInterrupted(state));
  const repeatable = atWork.filter((row) => whyEnded(parts, row) === undefined);
  return planRestarts(atWork, repeatable, parts.limits.attemptsMax);
}

/**
 * An agent whose conversations end with the process can't use an answer. An agent that can't tell is
 * assumed to be able to.
 */
async function mayWait(
  { agents, report }: Pick<TurnParts, 'agents' | 'report'>,
  { agent: name, contextId, owner }: TaskRow,
): Promise<boolean> {
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
function whyEnded({ agents, limits }: Pick<TurnParts, 'agents' | 'limits'>, row: TaskRow, guilty?: TaskRow): StopReason | undefined {
  const { agent: name, attempt } = row;
  const agent = agents.get(name);
  if (agent === undefined) return 'orphaned';
  if (attempt === 0) return undefined;
  if (agent.recovery === 'fail') return 'interrupted';
  return row === guilty || limits.attemptsMax <= 1 ? 'given up' : undefined;
}

/** What `recovery.ts` needs to foretell a restart. */
export type RestartParts = Pick<TurnParts, 'agents' | 'limits' | 'report' | 'missingAgents'>;

/** What `recover` would do with a task in this state. */
export async function restartOf(parts: RestartParts, row: TaskRow): Promise<AdminRestart> {
  const agent = parts.agents.get(row.agent);
  if (isTerminal(row.state)) return 'nothing';
  if (agent === undefined && parts.missingAgents === 'wait') return 'stays';
  if (isInterrupted(row.state)) return (await mayWait(parts, row)) ? 'waits' : 'fails';
  if (whyEnded(parts, row) !== undefined) return 'fails';
  if (row.attempt === 0) return 'starts';
  return agent?.recovery === 'resume' ? 'resumes' : 'repeats';
}

/**
 * Each further attempt waits longer, so that other tasks run first. `startTurn` saves the attempt
 * before the agent runs.
 */
function repeat(parts: TurnParts, task: LiveTask, alone: AloneStart | undefined): void {
  const { attempt } = task.row;
  if (attempt === 0) {
    startTurn(parts, task, { again: true });
    return;
  }
  if (alone !== undefined) task.setAttempt(Math.max(attempt, WAITING_ATTEMPT));
  startTurn(parts, task, { again: true, delayMs: parts.limits.retryMs * attempt ** 2, ...(alone === undefined ? {} : { alone }) });
}
