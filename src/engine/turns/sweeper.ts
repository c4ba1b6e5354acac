import { isInterrupted, LET_GO } from '#protocol';
import type { Core } from '../tasks/core.ts';
import type { Live, Run } from '../tasks/live-task.ts';
import { sweepTasks } from '../tasks/retention.ts';
import { finish } from './run.ts';
import { letGo, stopTask } from './stop.ts';

/** Returns what ends it. */
export function keepSweeping(core: Core, onForgotten: (count: number) => void): () => void {
  const { limits, timers } = core;
  let sweptAt = core.ticks();
  let callOff: () => void = () => {};
  const tick = (): void => {
    sweepRuns(core);
    core.writer.nudge();
    if (core.ticks() - sweptAt < limits.sweepMs) {
      callOff = timers.later(limits.tickMs, tick);
      return;
    }
    core.contexts.sweep();
    void sweepTasks(core)
      .then(onForgotten, (thrown: unknown) => core.report('a sweep failed', thrown))
      .finally(() => {
        sweptAt = core.ticks();
        if (core.phase === 'open') callOff = timers.later(limits.tickMs, tick);
      });
  };
  callOff = timers.later(limits.tickMs, tick);
  return () => callOff();
}

/** One look at every run, a second apart, serves all their deadlines: a timer a run would cost more than most runs do. */
export function sweepRuns(core: Core): void {
  // Nobody is late while nothing can be written.
  if (core.writer.isStalled) return;
  const now = core.ticks();
  for (const [run, live] of core.runs) {
    if (run.stoppedAt !== undefined) takePlace(core, run, { live, now });
    else if (run.callOff === undefined && live.run === run) checkDeadlines(core, run, { live, now });
  }
}

interface Look {
  readonly live: Live;
  readonly now: number;
}

/** An agent that does not listen to its signal goes on somewhere, but no longer in the place of others. */
function takePlace(core: Core, run: Run, { live, now }: Look): void {
  if (!run.hasPlace || now - (run.stoppedAt ?? now) < core.limits.runGraceMs) return;
  run.hasPlace = false;
  core.quotas.remove(live, run);
  core.slots.free();
  core.report(`agent ${live.row.agent} was stopped and does not end`, new Error(`task ${live.row.id}`));
}

/** Every event is a sign of life; so the log's length tells, and the run itself need not look at the clock. */
function checkDeadlines(core: Core, run: Run, { live, now }: Look): void {
  const { limits } = core;
  if (run.seenLast !== live.row.last) {
    run.seenLast = live.row.last;
    run.seenAt = now;
  }
  const idleMs = now - run.seenAt;
  if (run.isOver) {
    if (idleMs >= limits.runGraceMs) passOn(core, run, live);
  } else if (isInterrupted(live.row.state)) {
    if (idleMs >= limits.runAskMsMax) letGo(core, live, LET_GO);
  } else if (now - run.startedAt >= limits.runMsMax) stopTask(core, live, 'timed out');
  else if (idleMs >= limits.runIdleMsMax) stopTask(core, live, 'silent');
}

/** It has said its last word and does not come to an end: the next message need not wait for that. */
function passOn(core: Core, run: Run, live: Live): void {
  core.report(`agent ${live.row.agent} is done and does not end`, new Error(`task ${live.row.id}`));
  run.why = new DOMException('The turn is over.', 'AbortError');
  run.abort?.abort(run.why);
  finish(core, live, run);
}
