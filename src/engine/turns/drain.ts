import { isInterrupted, LET_GO } from '#protocol';
import { agentOf } from '../agents.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { AgentRun } from './agent-run.ts';
import type { FollowedCells } from './follow-cells.ts';
import type { TurnParts } from './parts.ts';
import { detachRun, letGo, stopTask } from './stop.ts';

/** How long the last replies may take to be published. The rest is published after the next start. */
const REPLIES_MS_MAX = 2000;

export interface DrainParts extends TurnParts {
  readonly outbox: TurnParts['outbox'] & Pick<Outbox, 'stop'>;
}

/**
 * Shutdown: starts no new turn, lets running ones finish for `ms`, then stops each as its agent's
 * `recovery` allows.
 */
export async function drain(parts: DrainParts, ms: number, cells?: Pick<FollowedCells, 'beginLeaving' | 'leave'>): Promise<void> {
  const { lifecycle, runs, outbox, tasks } = parts;
  if (lifecycle.phase === 'off') return;
  lifecycle.phase = 'closed';
  parts.slots.close();
  for (const [run, task] of runs) if (task.run === run && mayLeaveNow(task, run)) detachRun(parts, task, LET_GO);
  await Promise.all([cells?.beginLeaving(), runsEnded(parts, ms), outbox.stop('webhook', ms)]);
  for (const [run, task] of runs) {
    if (task.run !== run) continue;
    // Recovery of a new cell may have queued it meanwhile. It can't start any more.
    if (run.cancelStart !== undefined) detachRun(parts, task, LET_GO);
    // The run has ended and only cleans up: its task needs no last status.
    else if (run.isOver) detachRun(parts, task, 'The server is shutting down.');
    else if (agentOf(parts.agents, task.row.agent).recovery === 'fail') stopTask(parts, task, 'shutdown');
    else letGo(parts, task);
  }
  await allSaved(parts);
  await outbox.stop('reply', Math.min(ms, REPLIES_MS_MAX));
  await allSaved(parts);
  await cells?.leave();
  lifecycle.phase = 'off';
  parts.conversations.clear();
  for (const task of tasks.all()) task.wake();
}

async function allSaved({ commits, report }: DrainParts): Promise<void> {
  try {
    await commits.settled();
  } catch (thrown) {
    report('not all changes could be saved', thrown);
  }
}

/**
 * Runs that have not started, or wait for their caller, lose nothing if the next start continues them.
 */
function mayLeaveNow({ row }: LiveTask, run: AgentRun): boolean {
  return run.cancelStart !== undefined || (isInterrupted(row.state) && !run.isOver);
}

/** Waits until no run is at work, or for `ms`. Runs that start meanwhile, for queued messages, count too. Those in the queue never start. */
async function runsEnded({ runs, timers }: DrainParts, ms: number): Promise<void> {
  if (ms <= 0) return;
  let isOverdue = false;
  let cancel: () => void = () => {};
  const deadline = new Promise<void>((resolve) => {
    cancel = timers.later(ms, () => {
      isOverdue = true;
      resolve();
    });
  });
  while (!isOverdue) {
    const working = [...runs].filter(([run, task]) => task.run === run && run.cancelStart === undefined).map(([run]) => run.done);
    if (working.length === 0) break;
    await Promise.race([deadline, Promise.all(working)]);
  }
  cancel();
}
