import type { AdminDeliveriesRequest, AdminDelivery, AdminService, Mutable, Seq, TenantId } from '#protocol';
import { A2AError } from '#protocol';
import type { OutboxEntry, OutboxRow } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import { progressOf } from './lane.ts';

const LIMIT_MAX = 1000;

/** What operators see of webhooks, and do about what did not arrive. Never a secret: they are not even read here. */
export function createDeliveryAdmin(core: Core): Pick<AdminService, 'deliveries' | 'replay' | 'discard'> {
  return {
    deliveries: async ({ state, after, limit = LIMIT_MAX }: AdminDeliveriesRequest) => {
      const found = await core.store.outbox({
        limit: Math.min(limit, LIMIT_MAX),
        ...(state === undefined ? {} : { state }),
        ...(after === undefined ? {} : { after }),
      });
      return Promise.all(found.map((entry) => shown(core, entry)));
    },
    replay: async (id) => {
      const { row, task } = await deadLetter(core, id);
      const { failingSince: _, problem: __, ...rest } = row;
      const again: OutboxRow = { ...rest, state: 'open', attempts: 0, dueAt: core.now().ms };
      core.writer.add({ kind: 'outbox', row: again });
      await core.writer.settled();
      await core.outbox.recall(again);
      core.outbox.opened(again, task, progressOf(task));
      return shown(core, { row: again, task });
    },
    discard: async (id) => {
      await deadLetter(core, id);
      core.writer.add({ kind: 'unoutbox', n: id });
      await core.writer.settled();
    },
  };
}

async function deadLetter(core: Core, n: number): Promise<OutboxEntry> {
  const [entry] = await core.store.outbox({ n, limit: 1 });
  if (entry === undefined) throw new A2AError('TASK_NOT_FOUND', `there is no delivery ${n}`);
  if (entry.row.state !== 'dead') throw new A2AError('UNSUPPORTED_OPERATION', `delivery ${n} is under way: it is not a dead letter`);
  return entry;
}

async function shown(core: Core, { row: stored, task }: OutboxEntry): Promise<AdminDelivery> {
  // The queue in memory is ahead of what is on disk.
  const row = core.outbox.current(stored.n)?.row ?? stored;
  const push = (await core.store.pushConfigs(task.key)).find(({ config }) => config.id === row.config);
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
    first: (row.done + 1) as Seq,
    last,
    attempts: row.attempts,
  };
  if (task.owner.tenant !== '') out.tenant = task.owner.tenant as TenantId;
  if (row.state === 'open' && row.attempts > 0) out.dueAt = new Date(row.dueAt).toISOString();
  if (row.failingSince !== undefined) out.failingSince = new Date(row.failingSince).toISOString();
  if (row.problem !== undefined) out.problem = row.problem;
  return out;
}
