import { isInterrupted, LET_GO } from '#protocol';
import type { Core } from '../tasks/core.ts';
import { agentOf } from '../tasks/core.ts';
import type { Live, Run } from '../tasks/live-task.ts';
import { wakeAll } from '../tasks/live-task.ts';
import { letGo, stopTask } from './stop.ts';

/** Time for the last answers to go where bindings want them; what is left goes there after the next start. */
const REPLIES_MS_MAX = 2000;

/** The way out: no new turns, some time for those under way, and then each is stopped as its agent's recovery allows. */
export async function drain(core: Core, ms: number): Promise<void> {
  if (core.phase === 'off') return;
  core.phase = 'closed';
  core.slots.close();
  for (const [run, live] of core.runs) if (live.run === run && isLeft(live, run)) letGo(core, live, LET_GO);
  await Promise.all([ended(core, ms), core.outbox.stop(ms)]);
  for (const [run, live] of core.runs) {
    if (live.run !== run) continue;
    // It has said its last word and only cleans up: there is nothing to say in its place.
    if (run.isOver) letGo(core, live, 'The server is shutting down.');
    else if (agentOf(core, live.row.agent).recovery === 'fail') stopTask(core, live, 'shutdown');
    else leave(core, live);
  }
  await settled(core);
  await core.outbox.stopReplies(Math.min(ms, REPLIES_MS_MAX));
  await settled(core);
  core.phase = 'off';
  core.contexts.clear();
  for (const live of core.lives.values()) wakeAll(live);
}

async function settled(core: Core): Promise<void> {
  try {
    await core.writer.settled();
  } catch (thrown) {
    core.report('not everything could be kept', thrown);
  }
}

/** The next start goes on with it. That this process ends is no fault of the run: earlier attempts are not held against it. */
function leave(core: Core, live: Live): void {
  live.row.attempt = Math.min(live.row.attempt, 1);
  core.writer.touch(live);
  letGo(core, live, LET_GO);
}

/** Nothing is lost by leaving these to the next start at once: they have not begun, or wait for somebody. */
function isLeft({ row }: Live, run: Run): boolean {
  return run.callOff !== undefined || (isInterrupted(row.state) && !run.isOver);
}

async function ended(core: Core, ms: number): Promise<void> {
  if (ms <= 0) return;
  let isOverdue = false;
  let callOff: () => void = () => {};
  const deadline = new Promise<void>((resolve) => {
    callOff = core.timers.later(ms, () => {
      isOverdue = true;
      resolve();
    });
  });
  while (!isOverdue) {
    const working = [...core.runs].filter(([run, live]) => live.run === run).map(([run]) => run.done);
    if (working.length === 0) break;
    await Promise.race([deadline, Promise.all(working)]);
  }
  callOff();
}
