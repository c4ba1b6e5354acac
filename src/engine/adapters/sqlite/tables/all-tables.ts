import type { DatabaseSync } from 'node:sqlite';
import type { Tables } from '../commit/apply-write.ts';
import type { StoreMeta } from '../database/open.ts';
import { createDeferredDeletes } from './deferred-deletes.ts';
import { createOutboxTable } from './outbox.ts';
import { createPushConfigs } from './push-configs.ts';
import { createRealms } from './realms.ts';
import { createSends } from './sends.ts';
import { createTaskCounts } from './task-counts.ts';
import { createTasks } from './tasks.ts';

/** Prepares the statements of all tables. */
export function createTables(db: DatabaseSync, meta: StoreMeta): Tables {
  const realms = createRealms(db);
  const counts = createTaskCounts(db);
  return {
    realms,
    counts,
    tasks: createTasks(db, realms, counts),
    sends: createSends(db, realms, meta.named),
    pushes: createPushConfigs(db),
    outbox: createOutboxTable(db),
    deferredDeletes: createDeferredDeletes(db),
  };
}
