import type { Message } from '#protocol';
import type { Core } from './core.ts';
import { dropIfIdle } from './core.ts';
import type { Live } from './live-task.ts';
import { NOTHING, unsaved, wakeAll } from './live-task.ts';

/** A direct message is the whole answer only while nothing else was said and nobody can have heard of the task. */
export function mayTakeBack(core: Core, live: Live): boolean {
  const { row, run } = live;
  if (core.outbox.hasReply(row.key)) return false;
  return !live.announced && row.last === 1 && run?.queue.length === 0 && core.traitsOf(row.dialect).directMessage === 'allowed';
}

/** The task goes, and the message is the answer: to the call that waits for it, and to every repeat of it. */
export function takeBack(core: Core, live: Live, message: Message): void {
  const { record, row } = live;
  const { taskId: _, ...said } = message;
  const direct: Message = { ...said, contextId: row.contextId };
  const isWritten = !live.isNew || live.saving !== NOTHING;
  live.pending = { ...unsaved(), reserved: [...live.pending.reserved], hasDirect: true };
  if (isWritten) {
    live.pending.beside.push({ kind: 'forget', task: row.key });
    core.leaving.add(row.id);
    core.outbox.dropped(row.key);
  }
  if (record !== undefined) {
    const { task: __, ...rest } = record;
    live.pending.beside.push({ kind: 'send', record: { ...rest, answer: direct } });
  }
  live.direct = direct;
  live.isGone = true;
  core.lives.delete(row.id);
  core.writer.touch(live);
  dropIfIdle(core, live);
  wakeAll(live);
}
