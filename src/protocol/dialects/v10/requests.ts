import type { ContextId, PushConfigId, TaskId, TenantId } from '../../ids.ts';
import type { Json, Mutable } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { AuthenticationInfo, PushConfig } from '../../push.ts';
import type {
  CancelRequest,
  ExtendedCardRequest,
  GetRequest,
  ListRequest,
  PushDeleteRequest,
  PushGetRequest,
  PushListRequest,
  PushPage,
  SendConfiguration,
  SendRequest,
  SendResult,
  SubscribeRequest,
  TaskPage,
} from '../../requests.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from '../shared/read.ts';
import {
  countIf,
  fail,
  filledText,
  flagIf,
  id,
  idIf,
  listIf,
  member,
  memberIf,
  metadataIf,
  object,
  oneOf,
  taskIdIn,
  textIf,
  textsIf,
} from '../shared/read.ts';
import { timestampIf } from '../shared/values.ts';
import { generationIf, readEvent, readRequestMessage, readTask, STATES } from './model.ts';

/** SendMessageRequest (A2A 1.0.1 §3.1.1), also of a streaming send (§3.1.2). */
export function readSendRequest(raw: unknown, env: ReadEnv): SendRequest {
  const r = object(raw);
  const out: Mutable<SendRequest> = { message: member(r.message, 'message', readRequestMessage, env) };
  const configuration = memberIf(r.configuration, 'configuration', readConfiguration, env);
  if (configuration !== undefined) out.configuration = configuration;
  const metadata = metadataIf(r.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return withTenant(out, r, env);
}

function readConfiguration(raw: unknown, env: ReadEnv): SendConfiguration {
  const c = object(raw);
  const out: Mutable<SendConfiguration> = {};
  const modes = textsIf(c.acceptedOutputModes ?? c.accepted_output_modes, 'acceptedOutputModes');
  if (modes !== undefined) out.acceptedOutputModes = modes;
  const push = memberIf(c.taskPushNotificationConfig ?? c.task_push_notification_config, 'taskPushNotificationConfig', readPushConfig, env);
  if (push !== undefined) out.taskPushNotificationConfig = push;
  const historyLength = countIf(c.historyLength ?? c.history_length, 'historyLength');
  if (historyLength !== undefined) out.historyLength = historyLength;
  const returnImmediately = flagIf(c.returnImmediately ?? c.return_immediately, 'returnImmediately');
  if (returnImmediately !== undefined) out.returnImmediately = returnImmediately;
  const ifGenerationMatch = generationIf(c.ifGenerationMatch ?? c.if_generation_match, 'ifGenerationMatch');
  if (ifGenerationMatch !== undefined) out.ifGenerationMatch = ifGenerationMatch;
  return out;
}

/** SendMessageResponse: `{task}` or `{message}`. */
export function readSendResult(raw: unknown, env: ReadEnv): SendResult {
  const event = readEvent(raw, env);
  if (event.task !== undefined) return { task: event.task };
  if (event.message !== undefined) return { message: event.message };
  return fail('', 'must have exactly one of task, message');
}

/** GetTaskRequest (§3.1.3). */
export function readGetRequest(raw: unknown, env: ReadEnv): GetRequest {
  const r = object(raw);
  const out: Mutable<GetRequest> = { id: taskIdIn(r, env) };
  const historyLength = countIf(r.historyLength ?? r.history_length, 'historyLength');
  if (historyLength !== undefined) out.historyLength = historyLength;
  const currentGeneration = generationIf(r.currentGeneration ?? r.current_generation, 'currentGeneration');
  if (currentGeneration !== undefined) out.currentGeneration = currentGeneration;
  return withTenant(out, r, env);
}

/** CancelTaskRequest (§3.1.5). */
export function readCancelRequest(raw: unknown, env: ReadEnv): CancelRequest {
  const r = object(raw);
  const out: Mutable<CancelRequest> = { id: taskIdIn(r, env) };
  const metadata = metadataIf(r.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return withTenant(out, r, env);
}

/** SubscribeToTaskRequest (§3.1.6). */
export function readSubscribeRequest(raw: unknown, env: ReadEnv): SubscribeRequest {
  const r = object(raw);
  const out: Mutable<SubscribeRequest> = { id: taskIdIn(r, env) };
  return withTenant(out, r, env);
}

const PAGE_SIZE_MAX = 100;

/** ListTasksRequest (§3.1.4). The page size must be from 1 to 100. */
export function readListRequest(raw: unknown, env: ReadEnv): ListRequest {
  const r = object(raw);
  const out: Mutable<ListRequest> = {};
  const contextId = idIf<ContextId>(r.contextId ?? r.context_id, 'contextId', env);
  if (contextId !== undefined) out.contextId = contextId;
  const status = memberIf(r.status, 'status', (value) => oneOf(value, '', STATES), env);
  if (status !== undefined && status !== 'TASK_STATE_UNSPECIFIED') out.status = status; // the zero value means no filter
  const pageSize = countIf(r.pageSize ?? r.page_size, 'pageSize');
  if (pageSize !== undefined) {
    if (pageSize < 1 || pageSize > PAGE_SIZE_MAX) fail('pageSize', `must be from 1 to ${PAGE_SIZE_MAX}`);
    out.pageSize = pageSize;
  }
  const pageToken = textIf(r.pageToken ?? r.page_token, 'pageToken');
  if (pageToken !== undefined && pageToken !== '') out.pageToken = pageToken;
  const historyLength = countIf(r.historyLength ?? r.history_length, 'historyLength');
  if (historyLength !== undefined) out.historyLength = historyLength;
  const after = timestampIf(r.statusTimestampAfter ?? r.status_timestamp_after, 'statusTimestampAfter');
  if (after !== undefined) out.statusTimestampAfter = after;
  const includeArtifacts = flagIf(r.includeArtifacts ?? r.include_artifacts, 'includeArtifacts');
  if (includeArtifacts !== undefined) out.includeArtifacts = includeArtifacts;
  return withTenant(out, r, env);
}

/** ListTasksResponse (§3.1.4). */
export function readTaskPage(raw: unknown, env: ReadEnv): TaskPage {
  const p = object(raw);
  const tasks = listIf(p.tasks, 'tasks', readTask, env) ?? [];
  return {
    tasks,
    nextPageToken: textIf(p.nextPageToken ?? p.next_page_token, 'nextPageToken') ?? '',
    pageSize: countIf(p.pageSize ?? p.page_size, 'pageSize') ?? tasks.length,
    totalSize: countIf(p.totalSize ?? p.total_size, 'totalSize') ?? tasks.length,
  };
}

/** TaskPushNotificationConfig (§4.3.1). */
export function readPushConfig(raw: unknown, env: ReadEnv): PushConfig {
  const c = object(raw);
  const out: Mutable<PushConfig> = { url: filledText(c.url, 'url') };
  const configId = idIf<PushConfigId>(c.id, 'id', env);
  if (configId !== undefined) out.id = configId;
  const taskId = idIf<TaskId>(c.taskId ?? c.task_id, 'taskId', env);
  if (taskId !== undefined) out.taskId = taskId;
  const token = textIf(c.token, 'token');
  if (token !== undefined && token !== '') out.token = token;
  const authentication = memberIf(c.authentication, 'authentication', readAuthentication, env);
  if (authentication !== undefined) out.authentication = authentication;
  return withTenant(out, c, env);
}

function readAuthentication(raw: unknown): AuthenticationInfo {
  const a = object(raw);
  const scheme = filledText(a.scheme, 'scheme');
  const credentials = textIf(a.credentials, 'credentials');
  return credentials === undefined || credentials === '' ? { scheme } : { scheme, credentials };
}

/** Create takes the config itself, which must name its task. */
export function readPushCreateRequest(raw: unknown, env: ReadEnv): PushConfig {
  const c = object(raw);
  id(c.taskId ?? c.task_id, 'taskId', env);
  return readPushConfig(raw, env);
}

/** GetTaskPushNotificationConfigRequest (§3.1.8). */
export function readPushGetRequest(raw: unknown, env: ReadEnv): PushGetRequest {
  const r = object(raw);
  const out: Mutable<PushGetRequest> = { taskId: id(r.taskId ?? r.task_id, 'taskId', env), id: id(r.id, 'id', env) };
  return withTenant(out, r, env);
}

/** DeleteTaskPushNotificationConfigRequest (§3.1.10). */
export function readPushDeleteRequest(raw: unknown, env: ReadEnv): PushDeleteRequest {
  const r = object(raw);
  const out: Mutable<PushDeleteRequest> = { taskId: id(r.taskId ?? r.task_id, 'taskId', env), id: id(r.id, 'id', env) };
  return withTenant(out, r, env);
}

/** ListTaskPushNotificationConfigsRequest (§3.1.9). */
export function readPushListRequest(raw: unknown, env: ReadEnv): PushListRequest {
  const r = object(raw);
  const out: Mutable<PushListRequest> = { taskId: id(r.taskId ?? r.task_id, 'taskId', env) };
  const pageSize = countIf(r.pageSize ?? r.page_size, 'pageSize');
  if (pageSize !== undefined && pageSize > 0) out.pageSize = pageSize;
  const pageToken = textIf(r.pageToken ?? r.page_token, 'pageToken');
  if (pageToken !== undefined && pageToken !== '') out.pageToken = pageToken;
  return withTenant(out, r, env);
}

export function readPushPage(raw: unknown, env: ReadEnv): PushPage {
  const p = object(raw);
  const configs = listIf(p.configs, 'configs', readPushConfig, env) ?? [];
  const nextPageToken = textIf(p.nextPageToken ?? p.next_page_token, 'nextPageToken');
  return nextPageToken === undefined || nextPageToken === '' ? { configs } : { configs, nextPageToken };
}

export function readExtendedCardRequest(raw: unknown, env: ReadEnv): ExtendedCardRequest {
  return raw === undefined || raw === null ? {} : withTenant({}, object(raw), env);
}

function withTenant<T extends { tenant?: TenantId }>(out: T, raw: Raw, env: ReadEnv): T {
  const tenant = idIf<TenantId>(raw.tenant, 'tenant', env);
  if (tenant !== undefined) out.tenant = tenant;
  return out;
}

/** 1.0.1 has no member for the caller's name of a task, nor for the 1.1 draft's generation check. */
export function writeSendRequest(request: SendRequest): Json {
  const { alias: _, ...rest } = request;
  if (rest.configuration?.ifGenerationMatch === undefined) return jsonOf(rest);
  const { ifGenerationMatch: __, ...configuration } = rest.configuration;
  return jsonOf({ ...rest, configuration });
}
