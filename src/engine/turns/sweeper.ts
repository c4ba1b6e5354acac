import { isInterrupted, LET_GO } from '#protocol';
import type { Commits } from '../commit/group-commit.ts';
import { reported } from '../report.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { RetentionParts } from '../tasks/retention.ts';
import { sweepTasks } from '../tasks/retention.ts';
import type { AgentRun } from './agent-run.ts';
import { abortRun, freeSlot } from './agent-run.ts';
import type { TurnParts } from './parts.ts';
import { endRun } from './run.ts';
import { detachRun, stopTask } from './stop.ts';

export interface SweeperParts {
  readonly turns: TurnParts;
  readonly retention: RetentionParts;
  readonly commits: Pick<Commits, 'flushLazy'>;
  readonly onDeleted: (count: number) => void;
  /** Called with each sweep. */
  readonly lookAgain?: (() => Promise<void>) | undefined;
}

/** Checks timeouts once a tick, and retention less often. Returns a function that ends it. */
export function keepSweeping({ turns, retention, commits, onDeleted, lookAgain }: SweeperParts): () => void {
  const { limits, timers, clock, conversations, lifecycle, report } = turns;
  let sweptAt = clock.ticks();
  let cancel: () => void = () => {};
  const tick = (): void => {
    checkTimeouts(turns);
    commits.flushLazy();
    if (clock.ticks() - sweptAt < limits.sweepMs) {
      cancel = timers.later(limits.tickMs, tick);
      return;
    }
    conversations.sweep();
    void sweepTasks(retention)
      .then(onDeleted)
      .then(lookAgain)
      .catch((thrown: unknown) => report('a sweep failed', thrown))
      .finally(() => {
        sweptAt = clock.ticks();
        if (lifecycle.phase === 'open' || lifecycle.phase === 'cut off') cancel = timers.later(limits.tickMs, tick);
      });
  };
  cancel = timers.later(limits.tickMs, tick);
  return () => cancel();
}

/** One pass over all runs per tick: a timer for each run would cost more than most runs do. */
function checkTimeouts(parts: TurnParts): void {
  // Runs can't make progress while the store can't write.
  if (parts.commits.isStalled) return;
  const now = parts.clock.ticks();
  for (const [run, task] of parts.runs) {
    if (run.stoppedAt !== undefined) reclaimSlot(parts, run, { task, now });
    else if (run.cancelStart === undefined && task.run === run) checkRun(parts, run, { task, now });
  }
}

interface TimeoutCheck {
  readonly task: LiveTask;
  readonly now: number;
}

/** An agent that ignores its abort signal keeps running, but no longer occupies a slot. */
function reclaimSlot(parts: TurnParts, run: AgentRun, { task, now }: TimeoutCheck): void {
  if (!run.hasSlot || now - (run.stoppedAt ?? now) < parts.limits.runGraceMs) return;
  parts.quotas.remove(task, run);
  freeSlot(parts.slots, run);
  parts.report(`agent ${task.row.agent} was stopped and has not returned`, new Error(`task ${task.row.id}`), reported(task));
}

/** Every event shows that the run is alive. Comparing the length of the log saves the run from reading the clock for each event. */
function checkRun(parts: TurnParts, run: AgentRun, { task, now }: TimeoutCheck): void {
  const { limits } = parts;
  if (run.seenLast !== task.row.last) {
    run.seenLast = task.row.last;
    run.seenAt = now;
  }
  const idleMs = now - run.seenAt;
  if (run.isOver) {
    if (idleMs >= limits.runGraceMs) endUnreturned(parts, run, task);
  } else if (isInterrupted(task.row.state)) {
    if (idleMs >= limits.runAskMsMax) detachRun(parts, task, LET_GO);
  } else if (now - run.startedAt >= limits.runMsMax) stopTask(parts, task, 'timed out');
  else if (idleMs >= limits.runIdleMsMax) stopTask(parts, task, 'silent');
}

/** The run has produced its last output but the agent has not returned: the next message must not wait for that. */
function endUnreturned(parts: TurnParts, run: AgentRun, task: LiveTask): void {
  parts.report(`agent ${task.row.agent} has finished and has not returned`, new Error(`task ${task.row.id}`), reported(task));
  abortRun(run, 'The turn is over.');
  endRun(parts, task, run);
}
