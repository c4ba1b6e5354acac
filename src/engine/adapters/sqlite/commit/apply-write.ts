import { unreachable } from '#protocol';
import type { SendName, Write } from '../../../ports.ts';
import type { DeferredDeletes } from '../tables/deferred-deletes.ts';
import type { OutboxTable } from '../tables/outbox.ts';
import type { Owners } from '../tables/owners.ts';
import type { PushConfigs } from '../tables/push-configs.ts';
import type { Realms } from '../tables/realms.ts';
import type { Sends } from '../tables/sends.ts';
import type { TaskCounts } from '../tables/task-counts.ts';
import type { Tasks } from '../tables/tasks.ts';
import type { Titles } from '../tables/titles.ts';

/** The tables of the store, each with the code that writes it. */
export interface Tables {
  readonly realms: Realms;
  readonly counts: TaskCounts;
  readonly tasks: Tasks;
  readonly sends: Sends;
  readonly pushes: PushConfigs;
  readonly outbox: OutboxTable;
  readonly owners: Owners;
  readonly titles: Titles;
  readonly deferredDeletes: DeferredDeletes;
}

/** The last hash of the log of each task that a commit has created. */
export type CreatedHeads = ReadonlyMap<number, string>;

/** Applies the writes of a batch in the current transaction, in their order. Marks of delivery stand in rows, and each row is one step. */
export function applyAll(batch: readonly Write[], tables: Tables, heads: Map<number, string>): void {
  let delivered: SendName[] = [];
  for (const write of batch) {
    if (write.kind === 'delivered') {
      delivered.push(write.name);
      continue;
    }
    if (delivered.length > 0) tables.sends.deliver(delivered);
    delivered = [];
    if (write.kind === 'task' && write.isNew) heads.set(write.row.key, tables.tasks.create(write.row, write.entries));
    else apply(write, tables);
  }
  if (delivered.length > 0) tables.sends.deliver(delivered);
}

function apply(write: Exclude<Write, { kind: 'delivered' }>, { tasks, sends, pushes, outbox, owners }: Tables): void {
  switch (write.kind) {
    case 'task':
      tasks.change(write.row, write.entries);
      return;
    case 'send':
      sends.put(write.record);
      return;
    case 'push':
      pushes.put(write.task, write.push);
      return;
    case 'unpush':
      pushes.drop(write.task, write.id);
      outbox.dropConfig(write.task, write.id);
      return;
    case 'outbox':
      outbox.put(write.row);
      return;
    case 'unoutbox':
      outbox.drop(write.n);
      return;
    case 'forget':
      if (!tasks.forget(write.task)) return;
      pushes.forgetTask(write.task);
      outbox.forgetTask(write.task);
      sends.forgetTask(write.task);
      return;
    case 'forgetSends':
      sends.forgetBefore(write.before);
      return;
    case 'forgetOwner':
      owners.forget(write.owner);
      return;
    default:
      unreachable(write);
  }
}
