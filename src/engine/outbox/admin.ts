import type { AdminDeliveriesRequest, AdminDelivery, AdminService, Mutable } from '#protocol';
import { A2AError, seqAfter, tenantId } from '#protocol';
import type { Commits } from '../commit/group-commit.ts';
import type { EngineClock } from '../engine-clock.ts';
import type { OutboxEntry, OutboxRow, Store } from '../ports.ts';
import type { FindParts } from '../read/find.ts';
import type { Outbox } from './outbox.ts';
import { progressOf } from './queue.ts';

const LIMIT_MAX = 1000;

export interface DeliveryAdminParts extends Pick<FindParts, 'cells'> {
  readonly store: Pick<Store, 'outbox' | 'pushConfigs' | 'task'>;
  readonly outbox: Outbox;
  readonly commits: Pick<Commits, 'add' | 'settled'>;
  readonly clock: EngineClock;
}

/**
 * Deliveries as operators see them, and what they can do with dead letters. Secrets are never read
 * here.
 */
export function createDeliveryAdmin(parts: DeliveryAdminParts): Pick<AdminService, 'deliveries' | 'replay' | 'discard' | 'resend'> {
  const { store, outbox, commits, clock } = parts;
  return {
    deliveries: async ({ state, after, limit = LIMIT_MAX }: AdminDeliveriesRequest) => {
      const found = await store.outbox({
        limit: Math.min(limit, LIMIT_MAX),
        ...(state === undefined ? {} : { state }),
        ...(after === undefined ? {} : { after }),
      });
      return Promise.all(found.map((entry) => shown(parts, entry)));
    },
    replay: async (id) => {
      const { row, task } = await deadLetter(parts, id);
      const { failingSince: _, problem: __, ...rest } = row;
      const again: OutboxRow = { ...rest, state: 'open', attempts: 0, dueAt: clock.now().ms };
      commits.add({ kind: 'outbox', row: again }, task);
      await commits.settled('request', task);
      await outbox.readKind(again);
      outbox.opened(again, task, progressOf(task));
      return shown(parts, { row: again, task });
    },
    resend: async ({ taskId, configId, seq }) => {
      const task = await store.task('any', taskId);
      if (task === undefined || seq > task.last) throw new A2AError('TASK_NOT_FOUND', `there is no event ${seq} of task ${taskId}`);
      if (!(await store.pushConfigs(task.key)).some(({ config }) => config.id === configId))
        throw new A2AError('UNSUPPORTED_OPERATION', 'the webhook was deleted, so nothing can be sent to it');
      await parts.cells?.enter(task);
      const row = outbox.again(task, configId, seq);
      commits.add({ kind: 'outbox', row }, task);
      await commits.settled('request', task);
      outbox.opened(row, task, progressOf(task));
      return shown(parts, { row, task });
    },
    discard: async (id) => {
      const { task } = await deadLetter(parts, id);
      commits.add({ kind: 'unoutbox', n: id }, task);
      await commits.settled('request', task);
    },
  };
}

async function deadLetter({ store, cells }: DeliveryAdminParts, n: number): Promise<OutboxEntry> {
  const [entry] = await store.outbox({ n, limit: 1 });
  if (entry === undefined) throw new A2AError('TASK_NOT_FOUND', `there is no delivery ${n}`);
  await cells?.enter(entry.task);
  if (entry.row.state !== 'dead')
    throw new A2AError('UNSUPPORTED_OPERATION', `delivery ${n} is not a dead letter: it is still being delivered`);
  return entry;
}

/** A delivery as operators see it, without secrets. */
async function shown({ store, outbox }: DeliveryAdminParts, { row: stored, task }: OutboxEntry): Promise<AdminDelivery> {
  // The queue in memory is ahead of the store.
  const row = outbox.current(stored.n)?.row ?? stored;
  const push = (await store.pushConfigs(task.key)).find(({ config }) => config.id === row.config);
  const last = row.upTo ?? task.last;
  const out: Mutable<AdminDelivery> = {
    id: row.n,
    state: row.state,
    taskId: task.id,
    agent: task.agent,
    principal: task.owner.principal,
    configId: row.config,
    url: push?.config.url ?? '',
    dialect: push?.dialect ?? task.dialect,
    pending: Math.max(0, last - row.done),
    first: seqAfter(row.done),
    last,
    attempts: row.attempts,
  };
  if (task.owner.tenant !== '') out.tenant = tenantId(task.owner.tenant);
  if (row.state === 'open' && row.attempts > 0) out.dueAt = new Date(row.dueAt).toISOString();
  if (row.failingSince !== undefined) out.failingSince = new Date(row.failingSince).toISOString();
  if (row.problem !== undefined) out.problem = row.problem;
  return out;
}
