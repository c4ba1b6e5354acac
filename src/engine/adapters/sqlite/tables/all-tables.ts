import type { DatabaseSync } from 'node:sqlite';
import type { Tables } from '../commit/apply-write.ts';
import type { StoreMeta } from '../database/open.ts';
import { createDeferredDeletes } from './deferred-deletes.ts';
import { createOutboxTable } from './outbox.ts';
import { createOwners } from './owners.ts';
import { createPushConfigs } from './push-configs.ts';
import { createRealms } from './realms.ts';
import { createSends } from './sends.ts';
import { createTaskCounts } from './task-counts.ts';
import { createTasks } from './tasks.ts';
import { createTitles } from './titles.ts';

/** Prepares the statements of all tables. */
export function createTables(db: DatabaseSync, meta: StoreMeta): Tables {
  const realms = createRealms(db);
  const counts = createTaskCounts(db);
  const tasks = createTasks(db, realms, counts);
  const sends = createSends(db, realms, meta.named);
  const [pushes, outbox] = [createPushConfigs(db), createOutboxTable(db)];
  return {
    realms,
    counts,
    tasks,
    sends,
    pushes,
    outbox,
    owners: createOwners(db, { realms, tasks, sends, pushes, outbox }),
    titles: createTitles(db),
    deferredDeletes: createDeferredDeletes(db),
  };
}
