import type { EngineLimits } from '../limits.ts';
import type { Live, Unsaved } from './live-task.ts';
import { gathering, NO_PAGE, NOTHING, wakeAll } from './live-task.ts';

/** How much of a log is kept at hand for its readers. */
export type TailLimits = Pick<EngineLimits, 'tailEvents' | 'tailBytes'>;

/** Nothing of it was written: it goes into a later commit, before what came meanwhile. */
export function putBack(live: Live, lives: Live[]): void {
  const { saving, pending } = live;
  live.saving = NOTHING;
  // What a task that was taken back wanted to write beside itself was for the task: only its direct message is left.
  if (!live.isGone) {
    live.pending = {
      entries: [...saving.entries, ...pending.entries],
      bytes: saving.bytes + pending.bytes,
      beside: [...saving.beside, ...pending.beside],
      reserved: [...saving.reserved, ...pending.reserved],
      hasDirect: false,
    };
  } else if (saving.hasDirect) {
    live.pending = saving;
  } else {
    gathering(live).reserved.unshift(...saving.reserved);
  }
  if (live.isDirty) return;
  live.isDirty = true;
  lives.push(live);
}

/** What was being saved is durable: readers may see it. */
export function publish(live: Live, limits: TailLimits): Unsaved {
  const saved = live.saving;
  live.saving = NOTHING;
  live.isNew = false;
  if (saved.hasDirect) live.isDirectSaved = true;
  const last = saved.entries.at(-1);
  if (last !== undefined) {
    live.committed = last.seq;
    keepTail(live, saved, limits);
  }
  wakeAll(live);
  return saved;
}

/** Trimmed in large steps: cutting an entry off for each one added would copy the array each time. */
function keepTail(live: Live, { entries, bytes }: Unsaved, limits: TailLimits): void {
  live.tailBytes += bytes;
  live.page = NO_PAGE;
  if (live.tail.length === 0 || live.tailBytes > limits.tailBytes) {
    live.tail = entries;
    live.tailBytes = bytes;
    return;
  }
  for (const entry of entries) live.tail.push(entry);
  if (live.tail.length > limits.tailEvents * 2) live.tail = live.tail.slice(-limits.tailEvents);
}
