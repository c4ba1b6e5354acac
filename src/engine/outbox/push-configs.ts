import type { CallContext, DialectId, Ids, PushConfig, PushListRequest, PushPage, PushService, Seq, TaskId, TenantId } from '#protocol';
import { A2AError, pushConfigId } from '#protocol';
import type { Agents } from '../agents.ts';
import { agentOf } from '../agents.ts';
import type { Commits } from '../commit/group-commit.ts';
import type { EngineLimits } from '../limits.ts';
import type { Owner, PushRow, Store, Write } from '../ports.ts';
import type { FindParts, TaskRequest } from '../read/find.ts';
import { withTask, withTaskRead } from '../read/find.ts';
import type { TokenKey } from '../read/page-tokens.ts';
import { openToken, sealToken } from '../read/page-tokens.ts';
import { inDigits } from '../tasks/events.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import { sealedAbout } from './compose-webhook.ts';
import type { Outbox } from './outbox.ts';
import { checkConfig, checkConfigId } from './push-config-checks.ts';
import { isReplyConfig, progressOf, REPLY_ID } from './queue.ts';

/** What checking and storing a push config needs of the engine. */
export interface PushConfigParts {
  readonly agents: Agents;
  readonly ids: Ids;
  readonly limits: Pick<EngineLimits, 'pushConfigsMax' | 'ownerPushConfigsMax'>;
  readonly outbox: Outbox;
  readonly store: Pick<Store, 'pushConfigs'>;
}

export interface PushServiceParts extends PushConfigParts, FindParts, TokenKey {
  readonly store: PushConfigParts['store'] & FindParts['store'];
  readonly commits: FindParts['commits'] & Pick<Commits, 'add' | 'settled'>;
}

const PAGE_MAX = 100;
const INLINE = 'configuration.taskPushNotificationConfig.';

/**
 * Push notification configs: webhooks that get a task's events. A config is stored with the dialect it
 * was registered in. Secrets are stored encrypted and only ever sent to the webhook.
 */
export function createPushService(parts: PushServiceParts, agent: string): PushService {
  /** A push request says `taskId` where others say `id`. */
  const asking = (request: { readonly taskId?: TaskId; readonly tenant?: TenantId }, ctx: CallContext): TaskRequest => {
    checkCapability(parts, agent);
    if (request.taskId === undefined) throw new A2AError('INVALID_PARAMS', 'taskId is required', { field: 'taskId' });
    const asked = request.tenant === undefined ? { id: request.taskId } : { id: request.taskId, tenant: request.tenant };
    return { agent, ctx, request: asked };
  };
  return {
    create: async (config, ctx) => {
      const asked = asking(config, ctx);
      checkConfig(config, '');
      checkConfigId(config, '');
      return withTask(parts, asked, async (task) => {
        await checkCount(parts, task, config);
        const prepared = await prepare(parts, config, { dialect: ctx.dialect, field: 'url' });
        await save(parts, task, prepared);
        return shown({ ...prepared, after: task.row.last }, asked.request.id);
      });
    },
    get: async (request, ctx) =>
      withTaskRead(parts, asking(request, ctx), async (task) => {
        const rows = await configsOf(parts, task);
        const row = request.id === undefined ? rows[0] : rows.find((each) => each.config.id === request.id);
        // A2A 1.0.1 §3.1.8: the error for a missing config is that for a missing task.
        if (row === undefined) throw new A2AError('TASK_NOT_FOUND', `task ${request.taskId} has no such push notification config`);
        return shown(row, request.taskId);
      }),
    list: async (request, ctx) => withTaskRead(parts, asking(request, ctx), (task) => listConfigs(parts, task, request)),
    delete: async (request, ctx) =>
      withTask(parts, asking(request, ctx), async (task) => {
        if (request.id.startsWith(REPLY_ID)) return;
        parts.commits.add({ kind: 'unpush', task: task.row.key, id: request.id }, task.row);
        parts.outbox.dropped(task.row.key, request.id);
        await parts.commits.settled('request', task.row);
      }),
  };
}

/** The configs that callers have registered. Those of replies are never shown. */
async function configsOf({ store }: PushConfigParts, { row }: LiveTask): Promise<readonly PushRow[]> {
  return (await store.pushConfigs(row.key)).filter((push) => !isReplyConfig(push));
}

/** One page of a task's configs. The token is a position in the list. */
async function listConfigs(parts: PushServiceParts, task: LiveTask, request: PushListRequest): Promise<PushPage> {
  const size = request.pageSize ?? PAGE_MAX;
  if (!Number.isInteger(size) || size < 1 || size > PAGE_MAX) {
    throw new A2AError('INVALID_PARAMS', `pageSize must be from 1 to ${PAGE_MAX}`, { field: 'pageSize' });
  }
  const scope = ['push', task.row.key];
  const [start = 0] = (request.pageToken ?? '') === '' ? [] : await openToken(parts, request.pageToken ?? '', scope);
  const rows = await configsOf(parts, task);
  const configs = rows.slice(start, start + size).map((row) => shown(row, request.taskId));
  const end = start + size;
  return end >= rows.length ? { configs } : { configs, nextPageToken: await sealToken(parts, [end], scope) };
}

/** A config as it will be stored, without the event from which it counts. */
export type PreparedPush = Omit<PushRow, 'after'>;

interface InlinePush {
  readonly config: PushConfig;
  readonly task: LiveTask | undefined;
}

interface PushCall {
  readonly facts: { readonly agent: string };
  readonly ctx: CallContext;
  readonly owner: Owner;
}

/**
 * Checks the push config of a send before its message is accepted: a caller who relies on it must learn
 * if it can't be stored.
 */
export async function prepareInlinePush(
  parts: PushConfigParts,
  { facts, ctx, owner }: PushCall,
  { config, task }: InlinePush,
): Promise<PreparedPush> {
  checkCapability(parts, facts.agent);
  checkConfig(config, INLINE);
  checkConfigId(config, INLINE);
  if (task !== undefined) await checkCount(parts, task, config);
  else checkOwner(parts, owner);
  return prepare(parts, config, { dialect: ctx.dialect, field: `${INLINE}url` });
}

interface NewPush {
  readonly push: PreparedPush;
  readonly after: Seq;
}

/** The writes for a config and its queue. */
export function writesFor({ outbox }: PushConfigParts, { row }: LiveTask, { push, after }: NewPush): readonly Write[] {
  const opening = outbox.openWebhook(row, push.config.id, after);
  const config: Write = { kind: 'push', task: row.key, push: { ...push, after } };
  return opening === undefined ? [config] : [config, opening];
}

async function save(parts: PushServiceParts, task: LiveTask, push: PreparedPush): Promise<void> {
  const { commits, outbox } = parts;
  const writes = writesFor(parts, task, { push, after: task.row.last });
  for (const write of writes) commits.add(write, task.row);
  await commits.settled('request', task.row);
  for (const write of writes) if (write.kind === 'outbox') outbox.opened(write.row, task.row, progressOf(task.row, task.committed));
}

interface Preparing {
  readonly dialect: DialectId;
  readonly field: string;
}

/**
 * Drops task and tenant, which the row implies; mints an id if the caller chose none; encrypts the
 * secrets.
 */
async function prepare(parts: PushConfigParts, given: PushConfig, { dialect, field }: Preparing): Promise<PreparedPush> {
  await checkTarget(parts, given.url, field);
  const { taskId: _, tenant: __, id, token, authentication, ...rest } = given;
  const named = id === undefined || id === '' ? pushConfigId(parts.ids.next()) : id;
  const config = { ...rest, id: named, ...(authentication === undefined ? {} : { authentication: { scheme: authentication.scheme } }) };
  if (token === undefined && authentication?.credentials === undefined) return { config, dialect };
  const { vault } = parts.outbox;
  if (vault === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this server has no key to encrypt credentials with');
  const secrets = { ...(token === undefined ? {} : { token }), ...(authentication === undefined ? {} : { authentication }) };
  return { config, dialect, sealed: await vault.seal(JSON.stringify(secrets), sealedAbout(config)) };
}

/** The config without its secrets. */
function shown({ config }: PushRow, taskId: TaskId): PushConfig {
  const { authentication, ...rest } = config;
  return { ...rest, ...(authentication === undefined ? {} : { authentication: { scheme: authentication.scheme } }), taskId };
}

/** Throws if the task or its owner has too many configs. Replacing a config is always allowed. */
async function checkCount(parts: PushConfigParts, task: LiveTask, config: PushConfig): Promise<void> {
  const rows = await configsOf(parts, task);
  if (rows.some((row) => row.config.id === config.id)) return;
  const { pushConfigsMax } = parts.limits;
  if (rows.length >= pushConfigsMax) {
    throw new A2AError('INVALID_PARAMS', `the task has reached the maximum of ${inDigits(pushConfigsMax)} push notification configs`);
  }
  checkOwner(parts, task.row.owner);
}

function checkOwner({ limits, outbox }: PushConfigParts, owner: Owner): void {
  const { ownerPushConfigsMax } = limits;
  if (outbox.openOf(owner) < ownerPushConfigsMax) return;
  throw new A2AError('INVALID_PARAMS', `you have reached the maximum of ${inDigits(ownerPushConfigsMax)} push notification configs in use`);
}

/** The sender decides where it sends to, now and for each delivery. */
async function checkTarget({ outbox }: PushConfigParts, url: string, field: string): Promise<void> {
  try {
    await outbox.webhookSender?.check(url);
  } catch (thrown) {
    const why = thrown instanceof Error ? `: ${thrown.message}` : '';
    throw new A2AError('INVALID_PARAMS', `nothing is sent to this address${why}`, { field });
  }
}

function checkCapability({ outbox, agents }: PushConfigParts, agent: string): void {
  const isOn = outbox.webhookSender !== undefined && agentOf(agents, agent).card.capabilities.pushNotifications === true;
  if (!isOn) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
}
