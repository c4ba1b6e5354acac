import { isInterrupted } from '#protocol';
import type { TaskRow } from '../ports.ts';
import { stopTask } from '../turns/stop.ts';
import type { Core } from './core.ts';
import { hold, release } from './core.ts';
import { wakeAll } from './live-task.ts';

/** Tasks that go in one commit. Between two of them everybody else has a turn. */
const PORTION = 500;

/**
 * What is old goes: finished tasks by age, then by number, oldest first; the memory of sends that left no task. Tasks that have
 * waited too long for their caller fail, and are forgotten in their turn. A task that somebody reads, or that has a run, stays; one that a
 * webhook has not heard all of does not.
 */
export async function sweepTasks(core: Core): Promise<number> {
  const { limits, store } = core;
  const now = core.now().ms;
  await failUnanswered(core, now - limits.waitingMsMax);
  let forgotten = await forgetWhile(core, now - limits.finishedMsMax, () => Number.POSITIVE_INFINITY);
  const surplus = (await store.finished()) - limits.finishedTasksMax;
  if (surplus > 0) forgotten += await forgetWhile(core, Number.POSITIVE_INFINITY, (done) => surplus - done);
  core.writer.add({ kind: 'forgetSends', before: now - limits.finishedMsMax });
  await core.writer.settled();
  return forgotten;
}

/** Oldest first, in portions, until there are no more or enough are gone. */
async function forgetWhile(core: Core, before: number, left: (done: number) => number): Promise<number> {
  let done = 0;
  for (;;) {
    const limit = Math.min(PORTION, left(done));
    if (limit <= 0) return done;
    const rows = await core.store.quiet('finished', { before, limit });
    const gone = await forget(core, rows);
    done += gone;
    if (rows.length < limit || gone === 0) return done;
  }
}

/** Forgets those that nobody holds, and returns how many. From the first word on nobody can take hold of them. */
export async function forget(core: Core, rows: readonly TaskRow[]): Promise<number> {
  const free = rows.filter(({ id }) => !core.lives.has(id) && !core.loading.has(id) && !core.leaving.has(id));
  for (const { id, key } of free) {
    core.leaving.add(id);
    core.writer.add({ kind: 'forget', task: key });
    core.outbox.dropped(key);
  }
  if (free.length === 0) return 0;
  try {
    await core.writer.settled();
  } finally {
    for (const { id } of free) core.leaving.delete(id);
  }
  // After the rows: a blob that nothing refers to is waste, a reference to nothing would be a loss.
  for (const { key } of free) await core.blobs?.forget(key).catch((thrown) => core.report('blobs could not be dropped', thrown));
  return free.length;
}

async function failUnanswered(core: Core, before: number): Promise<void> {
  for (;;) {
    const rows = await core.store.quiet('waiting', { before, limit: PORTION });
    let ended = 0;
    for (const { id } of rows) {
      const live = await hold(core, 'any', id);
      if (live === undefined) continue;
      if (isInterrupted(live.row.state) && live.run === undefined) {
        stopTask(core, live, 'unanswered');
        ended += 1;
      }
      release(core, live);
    }
    if (ended > 0) await core.writer.settled();
    if (rows.length < PORTION || ended === 0) return;
  }
}

/** For an operator: also if somebody reads it. Whoever does is sent away. */
export async function forgetNow(core: Core, row: TaskRow): Promise<void> {
  await core.loading.get(row.id)?.catch(() => {});
  const live = core.lives.get(row.id);
  if (live !== undefined) {
    live.isGone = true;
    core.lives.delete(row.id);
    wakeAll(live);
  }
  await forget(core, [row]);
}
