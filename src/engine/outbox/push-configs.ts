import type { DialectId, PushConfig, PushListRequest, PushPage, PushService, Seq, TaskId, TenantId } from '#protocol';
import { A2AError, pushConfigId } from '#protocol';
import type { Owner, PushRow, Write } from '../ports.ts';
import type { Asked } from '../read/find.ts';
import { withTask } from '../read/find.ts';
import { openToken, sealToken } from '../read/page-tokens.ts';
import type { Call, Served } from '../send/call.ts';
import type { Core } from '../tasks/core.ts';
import { agentOf } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';
import { aboutPush } from './compose.ts';
import { progressOf } from './lane.ts';
import { isReply, REPLY_ID } from './replies.ts';

const PAGE_MAX = 100;
const URL_CHARS_MAX = 2048;
const SECRET_CHARS_MAX = 8192;

/**
 * Where a task's events are to be sent, besides to those who read them. Configs are kept with the dialect they were registered in, and their
 * queues with the place in the log from which they count (`outbox/`). Secrets go in, and never come out again but to the webhook.
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
      checkConfig(config, '');
      checkId(config, '');
      return withTask(core, asked, async (live) => {
        await checkCount(core, live, config);
        const prepared = await prepare(core, config, { dialect: ctx.dialect, field: 'url' });
        await keep(core, live, prepared);
        return shown({ ...prepared, after: live.row.last }, asked.request.id);
      });
    },
    get: async (request, ctx) =>
      withTask(core, asking(request, ctx), async (live) => {
        const rows = await configsOf(core, live);
        const row = request.id === undefined ? rows[0] : rows.find((each) => each.config.id === request.id);
        // A2A 1.0.1 §3.1.8: a config that is not there is answered as a task that is not there.
        if (row === undefined) throw new A2AError('TASK_NOT_FOUND', `task ${request.taskId} has no such push notification config`);
        return shown(row, request.taskId);
      }),
    list: async (request, ctx) => withTask(core, asking(request, ctx), (live) => listConfigs(core, live, request)),
    delete: async (request, ctx) =>
      withTask(core, asking(request, ctx), async (live) => {
        if (request.id.startsWith(REPLY_ID)) return;
        core.writer.add({ kind: 'unpush', task: live.row.key, id: request.id });
        core.outbox.dropped(live.row.key, request.id);
        await core.writer.settled();
      }),
  };
}

/** Those that callers have registered: where bindings answer is nobody's to see or change. */
async function configsOf(core: Core, { row }: Live): Promise<readonly PushRow[]> {
  return (await core.store.pushConfigs(row.key)).filter((push) => !isReply(push));
}

async function listConfigs(core: Core, live: Live, request: PushListRequest): Promise<PushPage> {
  const size = request.pageSize ?? PAGE_MAX;
  if (!Number.isInteger(size) || size < 1 || size > PAGE_MAX) {
    throw new A2AError('INVALID_PARAMS', `pageSize must be from 1 to ${PAGE_MAX}`, { field: 'pageSize' });
  }
  const scope = ['push', live.row.key];
  const [start = 0] = (request.pageToken ?? '') === '' ? [] : await openToken(core, request.pageToken ?? '', scope);
  const rows = await configsOf(core, live);
  const configs = rows.slice(start, start + size).map((row) => shown(row, request.taskId));
  const end = start + size;
  return end >= rows.length ? { configs } : { configs, nextPageToken: await sealToken(core, [end], scope) };
}

/** A config that is as it will be kept, but for the place from which it counts. */
export type PreparedPush = Omit<PushRow, 'after'>;

interface InlinePush {
  readonly config: PushConfig;
  readonly live: Live | undefined;
}

/** The config of a send is looked at before its message is taken in. A caller who relies on it must hear if it can't be kept. */
export async function prepareInlinePush(core: Core, { served, ctx, owner }: Call, { config, live }: InlinePush): Promise<PreparedPush> {
  checkCapability(core, served.agent);
  checkConfig(config, INLINE);
  checkId(config, INLINE);
  if (live !== undefined) await checkCount(core, live, config);
  else checkOwner(core, owner);
  return prepare(core, config, { dialect: ctx.dialect, field: `${INLINE}url` });
}

const INLINE = 'configuration.taskPushNotificationConfig.';

/** Both are in the commit that takes the message in: the config, and its queue. */
export function inlinePush(
  core: Core,
  live: Live,
  { push, after }: { readonly push: PreparedPush; readonly after: Seq },
): readonly Write[] {
  const opening = core.outbox.opening(live.row, push.config.id, after);
  const config: Write = { kind: 'push', task: live.row.key, push: { ...push, after } };
  return opening === undefined ? [config] : [config, opening];
}

async function keep(core: Core, live: Live, push: PreparedPush): Promise<void> {
  const writes = inlinePush(core, live, { push, after: live.row.last });
  for (const write of writes) core.writer.add(write);
  await core.writer.settled();
  const { row, committed } = live;
  for (const write of writes) if (write.kind === 'outbox') core.outbox.opened(write.row, row, progressOf(row, committed));
}

interface Preparing {
  readonly dialect: DialectId;
  readonly field: string;
}

/** Task and tenant are the row's own business; an id is given if the caller chose none; secrets are sealed. */
async function prepare(core: Core, given: PushConfig, { dialect, field }: Preparing): Promise<PreparedPush> {
  await checkTarget(core, given.url, field);
  const { taskId: _, tenant: __, id, token, authentication, ...rest } = given;
  const named = id === undefined || id === '' ? pushConfigId(core.ids.next()) : id;
  const config = { ...rest, id: named, ...(authentication === undefined ? {} : { authentication: { scheme: authentication.scheme } }) };
  if (token === undefined && authentication?.credentials === undefined) return { config, dialect };
  const { vault } = core.outbox;
  if (vault === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this server has no key to keep credentials with');
  const secrets = { ...(token === undefined ? {} : { token }), ...(authentication === undefined ? {} : { authentication }) };
  return { config, dialect, sealed: await vault.seal(JSON.stringify(secrets), aboutPush(config)) };
}

/** Secrets are not in it, nor how many there are: what was registered is shown to whoever may read it, not what for. */
function shown({ config }: PushRow, taskId: TaskId): PushConfig {
  const { authentication, ...rest } = config;
  return { ...rest, ...(authentication === undefined ? {} : { authentication: { scheme: authentication.scheme } }), taskId };
}

async function checkCount(core: Core, live: Live, config: PushConfig): Promise<void> {
  const rows = await configsOf(core, live);
  if (rows.some((row) => row.config.id === config.id)) return;
  if (rows.length >= core.limits.pushConfigsMax) {
    throw new A2AError('INVALID_PARAMS', `a task has at most ${core.limits.pushConfigsMax} push notification configs`);
  }
  checkOwner(core, live.row.owner);
}

function checkOwner(core: Core, owner: Owner): void {
  const { ownerPushConfigsMax } = core.limits;
  if (core.outbox.openOf(owner) < ownerPushConfigsMax) return;
  throw new A2AError('INVALID_PARAMS', `a caller has at most ${ownerPushConfigsMax} push notification configs in use`);
}

/** Where it may really be sent is decided by whoever sends it, now and each time. */
async function checkTarget(core: Core, url: string, field: string): Promise<void> {
  try {
    await core.outbox.courier?.check(url);
  } catch (thrown) {
    const why = thrown instanceof Error ? `: ${thrown.message}` : '';
    throw new A2AError('INVALID_PARAMS', `nothing is sent to this address${why}`, { field });
  }
}

/** What can never be sent to, or in a header, is refused before anything else is looked at. */
function checkConfig({ url, token, authentication }: PushConfig, prefix: string): void {
  const parsed = url.length > URL_CHARS_MAX ? null : URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) {
    throw new A2AError('INVALID_PARAMS', 'a push notification goes to an http or https URL', { field: `${prefix}url` });
  }
  checkSecret(token, `${prefix}token`);
  if (authentication === undefined) return;
  if (!SCHEME.test(authentication.scheme)) {
    throw new A2AError('INVALID_PARAMS', 'must be the name of an HTTP scheme, as Bearer', { field: `${prefix}authentication.scheme` });
  }
  checkSecret(authentication.credentials, `${prefix}authentication.credentials`);
}

/** Bindings' own names are not for callers: one that is replaced would take their answers elsewhere. */
function checkId({ id }: PushConfig, prefix: string): void {
  if (id?.startsWith(REPLY_ID) === true) throw new A2AError('INVALID_PARAMS', `must not begin with ${REPLY_ID}`, { field: `${prefix}id` });
}

/** RFC 9110 §11.1: a token. */
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** RFC 9110 §5.5, without what is obsolete: printable, and nothing that could end the line. */
const HEADER_TEXT = /^[\x20-\x7e]*$/;

function checkSecret(text: string | undefined, field: string): void {
  if (text === undefined || (text.length <= SECRET_CHARS_MAX && HEADER_TEXT.test(text))) return;
  throw new A2AError('INVALID_PARAMS', `must be at most ${SECRET_CHARS_MAX} printable ASCII characters`, { field });
}

function checkCapability(core: Core, agent: string): void {
  const isOn = core.outbox.courier !== undefined && agentOf(core, agent).card.capabilities.pushNotifications === true;
  if (!isOn) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
}
