import type { Write } from '../../../ports.ts';
import { toText } from '../database/text.ts';

/**
 * The tasks that a commit changes, for its mark: `12` is a task, `12=id` a new task, `*` a change that
 * belongs to no task.
 */
export function touchedBy(batch: readonly Write[]): string {
  let out = '';
  let hasOther = false;
  for (const write of batch) {
    if (write.kind === 'task') out += write.isNew ? `${write.row.key}=${encodeURIComponent(toText(write.row.id))} ` : `${write.row.key} `;
    else if (write.kind === 'push' || write.kind === 'unpush' || write.kind === 'forget') out += `${write.task} `;
    else if (write.kind === 'send' && write.record.task !== undefined) out += `${write.record.task.key} `;
    // A lost change of the outbox only repeats a delivery, so it is not recorded: the task must not be quarantined for it.
    else if (write.kind !== 'outbox' && write.kind !== 'unoutbox') hasOther = true;
  }
  return hasOther ? `${out}*` : out;
}
