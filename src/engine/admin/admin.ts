import type {
  AdminEvent,
  AdminListRequest,
  AdminOwner,
  AdminService,
  AdminTask,
  CallContext,
  Message,
  Mutable,
  Seq,
  TenantId,
} from '#protocol';
import { A2AError, isTerminal, jsonChars, messageId, NO_EVENT, seq } from '#protocol';
import { checkServed } from '../agents.ts';
import type { DeliveryAdminParts } from '../outbox/admin.ts';
import { createDeliveryAdmin } from '../outbox/admin.ts';
import type { ListFilter, Owner, Store, TaskScope } from '../ports.ts';
import { noTask } from '../read/find.ts';
import { entriesIn, foldTo } from '../read/fold.ts';
import { ADMIN_PAGE_MAX, pageOf } from '../read/list.ts';
import { admit } from '../send/admit.ts';
import { uncheckedFacts } from '../send/call.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import { deleteNow } from '../tasks/retention.ts';
import type { RestartParts } from '../turns/recovery.ts';
import { restartOf } from '../turns/recovery.ts';
import type { ApprovalParts } from './approvals.ts';
import { createApprovals } from './approvals.ts';
import { createAdminConversations } from './conversations.ts';
import type { EraseParts } from './erase.ts';
import { erase, exportPage } from './erase.ts';
import { adminTask, rowAt, withTaskIn } from './rows.ts';
import { createAdminSearch } from './search.ts';

/** What the operators' service needs of the engine. */
export type AdminParts = ApprovalParts &
  EraseParts &
  RestartParts & { readonly store: DeliveryAdminParts['store'] & Pick<Store, 'search'> };

/** Maximum number of events in one page. */
const EVENTS_MAX = 1000;
const WAIT_MS_MAX = 30_000;

/** The engine as operators and the console use it: those of the whole node, or of one tenant. */
export function createAdmin(given: Omit<AdminParts, 'scope'>, scope: TaskScope = 'any'): AdminService {
  const parts: AdminParts = { ...given, scope };
  const { tasks, store, commits, turns } = parts;
  return {
    ...createDeliveryAdmin(parts),
    erase: (request) => erase(parts, ownerIn(request, scope), request.dryRun === true),
    exportData: (request) => exportPage(parts, ownerIn(request, scope), request.pageToken),
    ...createAdminSearch(parts, (request) => filterOf(request, scope)),
    tasks: async (request) => {
      const filter = filterOf(request, scope);
      const { rows, tokenAfter } = await pageOf(parts, filter, { ...request, pageMax: ADMIN_PAGE_MAX });
      const nextPageToken = await tokenAfter(rows.length);
      return { tasks: rows.map((row) => adminTask(tasks, row)), nextPageToken, totalSize: await store.count(filter) };
    },
    task: (id) => withTaskIn(parts, id, (task) => shownTask(parts, task), 'read'),
    events: ({ id, after = NO_EVENT, limit = EVENTS_MAX, waitMs = 0 }) => {
      const read = async (task: LiveTask): Promise<readonly AdminEvent[]> => {
        if (waitMs > 0) await waitForMore(parts, task, { after, waitMs: Math.min(waitMs, WAIT_MS_MAX) });
        return await eventsOf(parts, task, { after, limit });
      };
      return withTaskIn(parts, id, read, waitMs > 0 ? 'use' : 'read');
    },
    ...createApprovals(parts),
    ...createAdminConversations(parts),
    cancel: (id) =>
      withTaskIn(parts, id, async (task) => {
        if (!isTerminal(task.row.state)) turns.stop(task, 'canceled');
        await commits.settled('request', task.row);
        return adminTask(tasks, task.row);
      }),
    retry: (id) => withTaskIn(parts, id, (task) => retry(parts, task)),
    delete: async (id) => {
      const row = await withTaskIn(parts, id, async (task) => {
        if (!isTerminal(task.row.state)) turns.stop(task, 'canceled');
        await commits.settled('request', task.row);
        return { ...task.row };
      });
      await deleteNow(parts.retention, [row]);
    },
  };
}

/** From the store: the row in memory is ahead of the disk, and a crash could take that back. */
async function shownTask(parts: AdminParts, task: LiveTask): ReturnType<AdminService['task']> {
  const stored = await parts.store.task(parts.scope, task.row.id);
  if (stored === undefined) throw noTask(task.row.id);
  // A database may have a commit that this process has no answer to yet. And a task of another process may have more events than were read first.
  const last = seq(Math.min(stored.last, task.committed));
  const shown = await foldTo(parts, task, last);
  const row = last === stored.last ? stored : rowAt(stored, shown, last);
  return { ...adminTask(parts.tasks, row), task: shown, onRestart: await restartOf(parts, row) };
}

/** The owner that a request names. An operator of a tenant can name principals of that tenant only. */
function ownerIn({ principal, tenant }: AdminOwner, within: TaskScope): Owner {
  return { principal, tenant: tenantIn(tenant, within) ?? '' };
}

function tenantIn(tenant: TenantId | undefined, within: TaskScope): string | undefined {
  const named = within === 'any' ? tenant : within.tenant;
  if (tenant !== undefined && tenant !== named) throw new A2AError('PERMISSION_DENIED', 'you are not an operator of that tenant');
  return named;
}

/** The filters of a list, within the operator's own tenant if the operator belongs to one. */
function filterOf(request: Omit<AdminListRequest, 'pageSize' | 'pageToken'>, within: TaskScope): ListFilter {
  const { agent, contextId, status, statusTimestampAfter } = request;
  const filter: Mutable<ListFilter> = { owner: scopeOf(request, within) };
  if (agent !== undefined) filter.agent = agent;
  if (contextId !== undefined) filter.contextId = contextId;
  if (status !== undefined) filter.state = status;
  if (statusTimestampAfter !== undefined) filter.statusFrom = Date.parse(statusTimestampAfter);
  return filter;
}

/** What a list may show: what its filters name, within the operator's own tenant if the operator belongs to one. */
function scopeOf({ principal, tenant }: AdminListRequest, within: TaskScope): TaskScope {
  const named = tenantIn(tenant, within);
  if (principal !== undefined) return { principal, tenant: named ?? '' };
  return named === undefined ? 'any' : { tenant: named };
}

interface EventRange {
  readonly after: Seq;
  readonly limit: number;
}

/** A page of a task's log. At most `EVENTS_MAX` events. */
async function eventsOf(parts: AdminParts, task: LiveTask, { after, limit }: EventRange): Promise<readonly AdminEvent[]> {
  const upTo = seq(Math.min(task.committed, after + Math.min(limit, EVENTS_MAX)));
  const found: AdminEvent[] = [];
  let bytes = 0;
  for (let last = after; last < upTo; ) {
    const entries = await entriesIn(parts, task, { after: last, upTo });
    if (entries.length === 0) break;
    for (const { seq, event, input } of entries) {
      bytes += jsonChars(event, Number.MAX_SAFE_INTEGER);
      if (found.length > 0 && bytes > parts.limits.pageBytesMax) return found;
      found.push({ seq, event, ...(input === undefined ? {} : { input }) });
    }
    last = entries.at(-1)?.seq ?? upTo;
  }
  return found;
}

interface EventWait {
  readonly after: Seq;
  readonly waitMs: number;
}

/** Waits until the log has events after `after`. */
async function waitForMore({ timers, lifecycle, commits }: AdminParts, task: LiveTask, { after, waitMs }: EventWait): Promise<void> {
  let isOverdue = false;
  const cancel = timers.later(waitMs, () => {
    isOverdue = true;
    task.wake();
  });
  try {
    while (task.committed <= after && !isTerminal(task.row.state) && !isOverdue && lifecycle.phase !== 'off') {
      task.checkHere();
      commits.check();
      await task.nextCommit();
    }
  } finally {
    cancel();
  }
}

/** Sends the last message of a finished task again, as a new task. */
async function retry(parts: AdminParts, task: LiveTask): Promise<AdminTask> {
  const { row } = task;
  if (!isTerminal(row.state)) throw new A2AError('UNSUPPORTED_OPERATION', `task ${row.id} is not finished`);
  const { owner, agent, dialect, contextId, alias, id } = row;
  checkServed(parts.agents, agent);
  const folded = await foldTo(parts, task, task.committed);
  const said = folded.history?.findLast((message) => message.role === 'ROLE_USER');
  if (said === undefined) throw new A2AError('UNSUPPORTED_OPERATION', `task ${id} has no message to repeat`);
  const { taskId: _, ...again } = said;
  const message: Message = {
    ...again,
    messageId: messageId(parts.ids.next()),
    contextId,
    referenceTaskIds: [...(said.referenceTaskIds ?? []), id],
  };
  const { signal } = new AbortController();
  const request = alias === undefined ? { message } : { message, alias };
  // Always a new task: the message must not answer another task that waits in the context.
  const { continuesByContext: __, ...semantics } = parts.semanticsOf(dialect);
  const ctx: CallContext = { principal: { id: owner.principal, scopes: [] }, dialect, semantics, extensions: [], signal };
  const accepted = await admit(parts, { request, ctx, facts: uncheckedFacts(agent), owner });
  try {
    accepted.task.announce();
    await parts.commits.settled('request', accepted.task.row);
    return adminTask(parts.tasks, accepted.task.row);
  } finally {
    accepted.task.release();
  }
}
