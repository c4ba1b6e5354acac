import type { Write } from '../../../ports.ts';
import { toText } from '../database/text.ts';

/** The words of a commit's mark: `12` a task, `12=id` a new one, `*` something of no task. */
export function touchedBy(batch: readonly Write[]): string {
  let out = '';
  let hasOther = false;
  for (const write of batch) {
    if (write.kind === 'task') out += write.isNew ? `${write.row.key}=${encodeURIComponent(toText(write.row.id))} ` : `${write.row.key} `;
    else if (write.kind === 'push' || write.kind === 'unpush' || write.kind === 'forget') out += `${write.task} `;
    else if (write.kind === 'send' && write.record.task !== undefined) out += `${write.record.task.key} `;
    // What is lost of the outbox is delivered once more: no reason to set the task aside.
    else if (write.kind !== 'outbox' && write.kind !== 'unoutbox') hasOther = true;
  }
  return hasOther ? `${out}*` : out;
}
