import type { AdminService, AdminTask, Logged, Message, Mutable, Seq } from '#protocol';
import { A2AError, isTerminal, messageId } from '#protocol';
import { createDeliveryAdmin } from '../outbox/admin.ts';
import type { ListFilter } from '../ports.ts';
import { entriesIn, foldTo } from '../read/fold.ts';
import { ADMIN_PAGE_MAX, pageOf } from '../read/list.ts';
import { admit } from '../send/admit.ts';
import type { Served } from '../send/call.ts';
import type { Core } from '../tasks/core.ts';
import { agentOf, release } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';
import { nextCommit, wakeAll } from '../tasks/live-task.ts';
import { forgetNow } from '../tasks/retention.ts';
import { modesOf } from '../turns/modes.ts';
import { stopTask } from '../turns/stop.ts';
import { noTask, shown, withAny } from './admin-task.ts';
import { createWaiting } from './approvals.ts';

const EVENTS_MAX = 1000;
const WAIT_MS_MAX = 30_000;

export function createAdmin(core: Core): AdminService {
  return {
    ...createDeliveryAdmin(core),
    tasks: async (request) => {
      const { principal, tenant, agent, contextId, status, statusTimestampAfter } = request;
      const filter: Mutable<ListFilter> = { owner: principal === undefined ? 'any' : { principal, tenant: tenant ?? '' } };
      if (agent !== undefined) filter.agent = agent;
      if (contextId !== undefined) filter.contextId = contextId;
      if (status !== undefined) filter.state = status;
      if (statusTimestampAfter !== undefined) filter.statusFrom = Date.parse(statusTimestampAfter);
      const { rows, nextPageToken } = await pageOf(core, filter, { ...request, pageMax: ADMIN_PAGE_MAX });
      return { tasks: rows.map((row) => shown(core, row)), nextPageToken, totalSize: await core.store.count(filter) };
    },
    task: (id) =>
      withAny(core, id, async (live) => {
        // Not the live row: that one is ahead of the disk, and nobody is shown what a crash can take back.
        const row = await core.store.task('any', id);
        if (row === undefined) throw noTask(id);
        return { ...shown(core, row), task: await foldTo(core, live, row.last) };
      }),
    events: ({ id, after = 0 as Seq, limit = EVENTS_MAX, waitMs = 0 }) =>
      withAny(core, id, async (live) => {
        if (waitMs > 0) await moreThan(core, live, { after, waitMs: Math.min(waitMs, WAIT_MS_MAX) });
        return await eventsOf(core, live, { after, limit });
      }),
    ...createWaiting(core),
    cancel: (id) =>
      withAny(core, id, async (live) => {
        if (!isTerminal(live.row.state)) stopTask(core, live, 'canceled');
        await core.writer.settled();
        return shown(core, live.row);
      }),
    retry: (id) => withAny(core, id, (live) => retry(core, live)),
    delete: async (id) => {
      const row = await withAny(core, id, async (live) => {
        if (!isTerminal(live.row.state)) stopTask(core, live, 'canceled');
        await core.writer.settled();
        return { ...live.row };
      });
      await forgetNow(core, row);
    },
  };
}

async function eventsOf(
  core: Core,
  live: Live,
  { after, limit }: { readonly after: Seq; readonly limit: number },
): Promise<readonly Logged[]> {
  const upTo = Math.min(live.committed, after + Math.min(limit, EVENTS_MAX)) as Seq;
  const found: Logged[] = [];
  for (let last = after; last < upTo; ) {
    const entries = await entriesIn(core, live, { after: last, upTo });
    if (entries.length === 0) break;
    for (const { seq, event } of entries) found.push({ seq, event });
    last = entries.at(-1)?.seq ?? upTo;
  }
  return found;
}

/** Until the log has more than the caller knows. */
async function moreThan(core: Core, live: Live, { after, waitMs }: { readonly after: Seq; readonly waitMs: number }): Promise<void> {
  let isOverdue = false;
  const callOff = core.timers.later(waitMs, () => {
    isOverdue = true;
    wakeAll(live);
  });
  try {
    while (live.committed <= after && !isTerminal(live.row.state) && !isOverdue && core.phase !== 'off') {
      core.writer.check();
      await nextCommit(live);
    }
  } finally {
    callOff();
  }
}

async function retry(core: Core, live: Live): Promise<AdminTask> {
  const { row } = live;
  if (!isTerminal(row.state)) throw new A2AError('UNSUPPORTED_OPERATION', `task ${row.id} is not finished`);
  const { owner, agent, dialect, contextId, alias, id } = row;
  agentOf(core, agent);
  const task = await foldTo(core, live, live.committed);
  const said = task.history?.findLast((message) => message.role === 'ROLE_USER');
  if (said === undefined) throw new A2AError('UNSUPPORTED_OPERATION', `task ${id} has no message to repeat`);
  const { taskId: _, ...again } = said;
  const message: Message = {
    ...again,
    messageId: messageId(core.ids.next()),
    contextId,
    referenceTaskIds: [...(said.referenceTaskIds ?? []), id],
  };
  const ctx = { principal: { id: owner.principal, scopes: [] }, dialect, extensions: [], signal: new AbortController().signal };
  // What the agent took once it takes again: its modes are not asked.
  const served: Served = { agent, takes: modesOf([]), makes: modesOf([]), repeatsAnew: true };
  const request = alias === undefined ? { message } : { message, alias };
  // A new task whatever waits in its context: it must not be taken for somebody's answer.
  const traits = { ...core.traitsOf(dialect), resumesByContext: false };
  const admitted = await admit(core, { request, ctx, served, owner, traits });
  try {
    admitted.live.announced = true;
    await core.writer.settled();
    return shown(core, admitted.live.row);
  } finally {
    release(core, admitted.live);
  }
}
