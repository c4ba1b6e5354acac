import type { DialectId, PushConfig, PushListRequest, PushPage, PushService, Seq, TaskId, TenantId } from '#protocol';
import { A2AError, pushConfigId } from '#protocol';
import type { Call, Served } from './call.ts';
import type { Core } from './core.ts';
import { agentOf } from './core.ts';
import type { Asked } from './find.ts';
import { withTask } from './find.ts';
import type { Live } from './live.ts';
import type { PushRow, Write } from './ports.ts';
import { openToken, sealToken } from './tokens.ts';

const PAGE_MAX = 100;
const URL_CHARS_MAX = 2048;

/**
 * Where a task's events are to be sent, besides to those who read them. Configs are kept with the dialect they were registered in
 * and the place in the log from which they count: whoever delivers follows the log from there, as any reader does.
 */
export function createPushService(core: Core, served: Served): PushService {
  /** A push request says `taskId` where others say `id`. */
  const asking = (request: { readonly taskId?: TaskId; readonly tenant?: TenantId }, ctx: Asked['ctx']): Asked => {
    checkCapability(core, served.agent);
    if (request.taskId === undefined) throw new A2AError('INVALID_PARAMS', 'taskId is required', { field: 'taskId' });
    const asked = request.tenant === undefined ? { id: request.taskId } : { id: request.taskId, tenant: request.tenant };
    return { served, ctx, request: asked };
  };
  return {
    create: async (config, ctx) => {
      const asked = asking(config, ctx);
      checkUrl(config, 'url');
      return withTask(core, asked, async (live) => {
        await checkCount(core, live, config);
        const push = pushRow(core, { config, dialect: ctx.dialect, after: live.row.last });
        core.writer.add({ kind: 'push', task: live.row.key, push });
        await core.writer.settled();
        return shown(push, asked.request.id);
      });
    },
    get: async (request, ctx) =>
      withTask(core, asking(request, ctx), async (live) => {
        const rows = await core.store.pushConfigs(live.row.key);
        const row = request.id === undefined ? rows[0] : rows.find((each) => each.config.id === request.id);
        // A2A 1.0.1 §3.1.8: a config that is not there is answered as a task that is not there.
        if (row === undefined) throw new A2AError('TASK_NOT_FOUND', `task ${request.taskId} has no such push notification config`);
        return shown(row, request.taskId);
      }),
    list: async (request, ctx) => withTask(core, asking(request, ctx), (live) => listConfigs(core, live, request)),
    delete: async (request, ctx) =>
      withTask(core, asking(request, ctx), async (live) => {
        core.writer.add({ kind: 'unpush', task: live.row.key, id: request.id });
        await core.writer.settled();
      }),
  };
}

async function listConfigs(core: Core, live: Live, request: PushListRequest): Promise<PushPage> {
  const size = request.pageSize ?? PAGE_MAX;
  if (!Number.isInteger(size) || size < 1 || size > PAGE_MAX) {
    throw new A2AError('INVALID_PARAMS', `pageSize must be from 1 to ${PAGE_MAX}`, { field: 'pageSize' });
  }
  const scope = ['push', live.row.key];
  const [start = 0] = (request.pageToken ?? '') === '' ? [] : await openToken(core, request.pageToken ?? '', scope);
  const rows = await core.store.pushConfigs(live.row.key);
  const configs = rows.slice(start, start + size).map((row) => shown(row, request.taskId));
  const end = start + size;
  return end >= rows.length ? { configs } : { configs, nextPageToken: await sealToken(core, [end], scope) };
}

interface InlinePush {
  readonly config: PushConfig;
  readonly live: Live | undefined;
}

/** The config of a send is looked at before its message is taken in. A caller who relies on it must hear if it can't be kept. */
export async function checkInlinePush(core: Core, { served }: Call, { config, live }: InlinePush): Promise<void> {
  checkCapability(core, served.agent);
  checkUrl(config, 'configuration.taskPushNotificationConfig.url');
  if (live !== undefined) await checkCount(core, live, config);
}

interface Registration {
  readonly config: PushConfig;
  readonly dialect: DialectId;
  readonly after: Seq;
}

export function inlinePush(core: Core, live: Live, registration: Registration): Write {
  return { kind: 'push', task: live.row.key, push: pushRow(core, registration) };
}

/** Task and tenant are the row's own business; an id is given if the caller chose none. */
function pushRow(core: Core, { config, dialect, after }: Registration): PushRow {
  const { taskId: _, tenant: __, id, ...rest } = config;
  const named = id === undefined || id === '' ? pushConfigId(core.ids.next()) : id;
  return { config: { ...rest, id: named }, dialect, after };
}

function shown({ config }: PushRow, taskId: TaskId): PushConfig {
  return { ...config, taskId };
}

async function checkCount(core: Core, live: Live, config: PushConfig): Promise<void> {
  const rows = await core.store.pushConfigs(live.row.key);
  const isNew = !rows.some((row) => row.config.id === config.id);
  if (!isNew || rows.length < core.limits.pushConfigsMax) return;
  throw new A2AError('INVALID_PARAMS', `a task has at most ${core.limits.pushConfigsMax} push notification configs`);
}

/** Where it may really be sent is decided by whoever sends it, each time. Here only what can never be sent to is refused. */
function checkUrl({ url }: PushConfig, field: string): void {
  const parsed = url.length > URL_CHARS_MAX ? null : URL.parse(url);
  if (parsed !== null && (parsed.protocol === 'https:' || parsed.protocol === 'http:')) return;
  throw new A2AError('INVALID_PARAMS', 'a push notification goes to an http or https URL', { field });
}

function checkCapability(core: Core, agent: string): void {
  if (agentOf(core, agent).card.capabilities.pushNotifications !== true) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
}
