import type { PushConfigId, TaskId } from '../../ids.ts';
import type { JsonDraft, Mutable } from '../../json.ts';
import type { PushConfig } from '../../push.ts';
import type { GetRequest, PushDeleteRequest, PushListRequest, PushPage, SendConfiguration, SendRequest } from '../../requests.ts';
import type { ReadEnv } from '../dialect.ts';
import { readPushConfig, writePushConfig } from '../shared/push-config.ts';
import type { Raw } from '../shared/read.ts';
import { countIf, id, idIf, listIf, member, memberIf, object, textIf } from '../shared/read.ts';
import { configName, namedIds } from './push.ts';
import { readWishes } from './requests.ts';
import type { Writers } from './write.ts';

/**
 * SendMessageConfiguration of 0.3's proto. Its fields have no presence: an absent `blocking` means
 * false (clients of both official SDKs leave false out, and their servers read it so), and a
 * historyLength of 0 means no limit.
 */
export function readConfiguration(raw: unknown, env: ReadEnv): SendConfiguration {
  const c = object(raw);
  const out = readWishes(c);
  out.returnImmediately ??= true;
  const config = memberIf(c.pushNotification ?? c.push_notification, 'pushNotification', readPushConfig, env);
  if (config !== undefined) out.taskPushNotificationConfig = config;
  const historyLength = limitIf(c);
  if (historyLength !== undefined) out.historyLength = historyLength;
  return out;
}

/** `blocking` is always written; see above. */
export function sendWriter(message: Writers['message']): (request: SendRequest) => JsonDraft {
  return (request) => {
    const { acceptedOutputModes, historyLength, returnImmediately, taskPushNotificationConfig } = request.configuration ?? {};
    const configuration: JsonDraft = { blocking: returnImmediately !== true };
    if (acceptedOutputModes !== undefined) configuration.acceptedOutputModes = acceptedOutputModes;
    if (historyLength !== undefined && historyLength > 0) configuration.historyLength = historyLength;
    if (taskPushNotificationConfig !== undefined) configuration.pushNotification = writePushConfig(taskPushNotificationConfig);
    const out: JsonDraft = { message: message(request.message), configuration };
    if (request.metadata !== undefined) out.metadata = request.metadata;
    return out;
  };
}

function limitIf(r: Raw): number | undefined {
  return countIf(r.historyLength ?? r.history_length, 'historyLength') || undefined;
}

/** The path's `{id}`. A body may repeat it as a resource name. */
function readId(r: Raw, env: ReadEnv): TaskId {
  return id<TaskId>(r.id ?? namedIds(r.name, 'name').taskId, 'id', env);
}

export function readGetRequest(raw: unknown, env: ReadEnv): GetRequest {
  const r = object(raw);
  const out: Mutable<GetRequest> = { id: readId(r, env) };
  const historyLength = limitIf(r);
  if (historyLength !== undefined) out.historyLength = historyLength;
  return out;
}

export function writeGetRequest(request: GetRequest): JsonDraft {
  const { historyLength } = request;
  return historyLength === undefined || historyLength === 0 ? { id: request.id } : { id: request.id, historyLength };
}

export function readTaskRequest(raw: unknown, env: ReadEnv): { readonly id: TaskId } {
  return { id: readId(object(raw), env) };
}

/** TaskPushNotificationConfig: `{name, pushNotificationConfig}`. */
export function readTaskConfig(raw: unknown, env: ReadEnv): PushConfig {
  const c = object(raw);
  const named = namedIds(c.name, 'name');
  const out = member(c.pushNotificationConfig ?? c.push_notification_config, 'pushNotificationConfig', readPushConfig, env);
  const configId = out.id ?? idIf<PushConfigId>(named.configId, 'name', env);
  if (configId !== undefined) out.id = configId;
  out.taskId = id<TaskId>(named.taskId, 'name', env);
  return out;
}

export function writeTaskConfig(config: PushConfig): JsonDraft {
  return { name: configName(config), pushNotificationConfig: writePushConfig(config) };
}

/**
 * Reads a create as `{parent, configId, config}` (the only form that both SDKs' servers accept) or as
 * the bare config (the proto's `body`, and the form that the JS client sends). The id in the resource
 * name is ignored: SDKs write `None` or nothing there for a config without an id.
 */
export function readPushCreateRequest(raw: unknown, env: ReadEnv): PushConfig {
  const r = object(raw);
  const inner = memberIf(r.config, 'config', object, env) ?? r;
  const named = namedIds(r.parent, 'parent').taskId ?? namedIds(inner.name, 'name').taskId;
  const taskId = id<TaskId>(r.taskId ?? named, 'taskId', env);
  const where = inner === r ? 'pushNotificationConfig' : 'config.pushNotificationConfig';
  const out = member(inner.pushNotificationConfig ?? inner.push_notification_config, where, readPushConfig, env);
  const configId = out.id ?? idIf<PushConfigId>(r.configId ?? r.config_id, 'configId', env);
  if (configId !== undefined) out.id = configId;
  out.taskId = taskId;
  return out;
}

/** `taskId` is in the path. Python's server refuses unknown members in the body. */
export function writePushCreateRequest(config: PushConfig): JsonDraft {
  const out: JsonDraft = { taskId: config.taskId ?? '', parent: `tasks/${config.taskId ?? ''}` };
  if (config.id !== undefined) out.configId = config.id;
  out.config = writeTaskConfig(config);
  return out;
}

/** One config of a task. The path has both ids, so HTTP+JSON can't ask without a config id. */
export function readConfigRequest(raw: unknown, env: ReadEnv): PushDeleteRequest {
  const r = object(raw);
  const named = namedIds(r.name, 'name');
  return { taskId: id<TaskId>(r.taskId ?? named.taskId, 'taskId', env), id: id<PushConfigId>(r.id ?? named.configId, 'id', env) };
}

/** The task is in `parent`, as `tasks/ID`, or in `taskId`. */
export function readPushListRequest(raw: unknown, env: ReadEnv): PushListRequest {
  const r = object(raw);
  const taskId = r.taskId ?? namedIds(r.parent, 'parent').taskId;
  const out: Mutable<PushListRequest> = { taskId: id<TaskId>(taskId, 'taskId', env) };
  const pageSize = countIf(r.pageSize ?? r.page_size, 'pageSize');
  if (pageSize !== undefined && pageSize > 0) out.pageSize = pageSize;
  const pageToken = textIf(r.pageToken ?? r.page_token, 'pageToken');
  if (pageToken !== undefined && pageToken !== '') out.pageToken = pageToken;
  return out;
}

export function writePushListRequest(request: PushListRequest): JsonDraft {
  const out: JsonDraft = { taskId: request.taskId };
  if (request.pageSize !== undefined) out.pageSize = request.pageSize;
  if (request.pageToken !== undefined) out.pageToken = request.pageToken;
  return out;
}

export function readPushPage(raw: unknown, env: ReadEnv): PushPage {
  const p = object(raw);
  const configs = listIf(p.configs, 'configs', readTaskConfig, env) ?? [];
  const nextPageToken = textIf(p.nextPageToken ?? p.next_page_token, 'nextPageToken');
  return nextPageToken === undefined || nextPageToken === '' ? { configs } : { configs, nextPageToken };
}

export function writePushPage(page: PushPage): JsonDraft {
  const configs = page.configs.map(writeTaskConfig);
  return page.nextPageToken === undefined ? { configs } : { configs, nextPageToken: page.nextPageToken };
}
