import type { ContextId, PushConfigId, TaskId } from '../../ids.ts';
import type { JsonDraft, Mutable } from '../../json.ts';
import type { PushConfig } from '../../push.ts';
import type {
  CancelRequest,
  GetRequest,
  ListRequest,
  PushDeleteRequest,
  PushGetRequest,
  PushListRequest,
  PushPage,
  SendConfiguration,
  SendRequest,
  SendResult,
  TaskPage,
} from '../../requests.ts';
import type { Task } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import { readPushConfig } from '../shared/push-config.ts';
import type { Raw, Reader } from '../shared/read.ts';
import {
  countIf,
  fail,
  flagIf,
  id,
  idIf,
  list,
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
import { isSet } from '../shared/wire-parts.ts';
import type { Form } from './form.ts';
import { readTaskConfig } from './push.ts';
import type { Readers } from './read.ts';
import type { Writers } from './write.ts';

/**
 * MessageSendParams (A2A 0.3.0 §7.1.1). The HTTP+JSON form has other names for two of its members and
 * passes its own reader for them.
 */
export function sendReader(read: Readers, configuration: Reader<SendConfiguration>): Reader<SendRequest> {
  return (raw, env) => {
    const r = object(raw);
    const out: Mutable<SendRequest> = { message: member(r.message ?? r.request, 'message', read.requestMessage, env) };
    const wishes = memberIf(r.configuration, 'configuration', configuration, env);
    if (wishes !== undefined) out.configuration = wishes;
    const metadata = metadataIf(r.metadata, 'metadata', env);
    if (metadata !== undefined) out.metadata = metadata;
    return out;
  };
}

/**
 * An absent `blocking` stays absent. 0.3 has no default; the service waits, as the servers of both
 * official SDKs do.
 */
export function readConfiguration(raw: unknown, env: ReadEnv): SendConfiguration {
  const c = object(raw);
  const out = readWishes(c);
  const push = c.pushNotificationConfig ?? c.push_notification_config;
  const config = memberIf(push, 'pushNotificationConfig', readPushConfig, env);
  if (config !== undefined) out.taskPushNotificationConfig = config;
  const historyLength = countIf(c.historyLength ?? c.history_length, 'historyLength');
  if (historyLength !== undefined) out.historyLength = historyLength;
  return out;
}

/** The members that both forms spell alike. */
export function readWishes(c: Raw): Mutable<SendConfiguration> {
  const out: Mutable<SendConfiguration> = {};
  const modes = textsIf(c.acceptedOutputModes ?? c.accepted_output_modes, 'acceptedOutputModes');
  // 0.2.0 to 0.2.5 require the member, so their empty list means absent.
  if (modes !== undefined && modes.length > 0) out.acceptedOutputModes = modes;
  const blocking = flagIf(c.blocking, 'blocking');
  if (blocking !== undefined) out.returnImmediately = !blocking;
  return out;
}

/** What differs between the releases when a send is written. */
export interface SendWriting {
  readonly message: Writers['message'];
  readonly config: (config: PushConfig) => JsonDraft;
}

/** Writes MessageSendParams. */
export function sendWriter(write: SendWriting): (request: SendRequest) => JsonDraft {
  return (request) => {
    const out: JsonDraft = { message: write.message(request.message) };
    if (request.configuration !== undefined) out.configuration = writeConfiguration(request.configuration, write);
    if (request.metadata !== undefined) out.metadata = request.metadata;
    return out;
  };
}

/**
 * `blocking` of 0.x is the opposite of `returnImmediately`. 0.2.0 to 0.2.5 require `acceptedOutputModes` in a configuration, and so does fasta2a,
 * the server of pydantic-ai, in every version.
 */
function writeConfiguration(configuration: SendConfiguration, write: SendWriting): JsonDraft {
  const out: JsonDraft = { acceptedOutputModes: configuration.acceptedOutputModes ?? [] };
  if (configuration.returnImmediately !== undefined) out.blocking = !configuration.returnImmediately;
  if (configuration.historyLength !== undefined) out.historyLength = configuration.historyLength;
  const config = configuration.taskPushNotificationConfig;
  if (config !== undefined) out.pushNotificationConfig = write.config(config);
  return out;
}

/** The result of a send must be a task or a message. */
export function sendResultReader(read: Readers): Reader<SendResult> {
  return (raw, env) => {
    const event = read.event(raw, env);
    if (event.task !== undefined) return { task: event.task };
    return event.message !== undefined ? { message: event.message } : fail('', 'must be a task or a message');
  };
}

export function readGetRequest(raw: unknown, env: ReadEnv): GetRequest {
  const r = object(raw);
  const out: Mutable<GetRequest> = { id: taskIdIn(r, env) };
  const historyLength = countIf(r.historyLength ?? r.history_length, 'historyLength');
  if (historyLength !== undefined) out.historyLength = historyLength;
  return out;
}

export function readCancelRequest(raw: unknown, env: ReadEnv): CancelRequest {
  const r = object(raw);
  const out: Mutable<CancelRequest> = { id: taskIdIn(r, env) };
  const metadata = metadataIf(r.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

export function readSubscribeRequest(raw: unknown, env: ReadEnv): { readonly id: TaskId } {
  return { id: taskIdIn(object(raw), env) };
}

/**
 * GetTaskPushNotificationConfigParams. Without a config id it asks for the only, or first, config (A2A
 * 0.3.0 §7.6).
 */
export function readPushGetRequest(raw: unknown, env: ReadEnv): PushGetRequest {
  const r = object(raw);
  const taskId = taskIdIn(r, env);
  const configId = idIf<PushConfigId>(r.pushNotificationConfigId ?? r.push_notification_config_id, 'pushNotificationConfigId', env);
  return configId === undefined ? { taskId } : { taskId, id: configId };
}

export function readPushDeleteRequest(raw: unknown, env: ReadEnv): PushDeleteRequest {
  const r = object(raw);
  const configId = r.pushNotificationConfigId ?? r.push_notification_config_id;
  return { taskId: taskIdIn(r, env), id: id<PushConfigId>(configId, 'pushNotificationConfigId', env) };
}

export function readPushListRequest(raw: unknown, env: ReadEnv): PushListRequest {
  return { taskId: taskIdIn(object(raw), env) };
}

export function readPushPage(raw: unknown, env: ReadEnv): PushPage {
  return { configs: list(raw, '', readTaskConfig, env) };
}

const PAGE_SIZE_MAX = 100;

/**
 * `tasks/list` as on the main branch after 0.3.0 (commit 0a9f629e): the filters of 1.0, with
 * milliseconds for a timestamp.
 */
export function listReader(form: Form): Reader<ListRequest> {
  return (raw, env) => {
    const r: Raw = isSet(raw) ? object(raw) : {};
    // "Defaults to 0 if not specified", unlike in all other requests.
    const out: Mutable<ListRequest> = { historyLength: countIf(r.historyLength ?? r.history_length, 'historyLength') ?? 0 };
    const contextId = idIf<ContextId>(r.contextId ?? r.context_id, 'contextId', env);
    if (contextId !== undefined) out.contextId = contextId;
    const status = memberIf(r.status, 'status', (value) => oneOf(value, '', form.states), env);
    if (status !== undefined && status !== 'TASK_STATE_UNSPECIFIED') out.status = status;
    readPaging(r, out);
    const after = r.lastUpdatedAfter ?? r.last_updated_after;
    if (isSet(after)) out.statusTimestampAfter = readInstant(after, 'lastUpdatedAfter');
    const includeArtifacts = flagIf(r.includeArtifacts ?? r.include_artifacts, 'includeArtifacts');
    if (includeArtifacts !== undefined) out.includeArtifacts = includeArtifacts;
    return out;
  };
}

function readPaging(r: Raw, into: Mutable<ListRequest>): void {
  const pageSize = countIf(r.pageSize ?? r.page_size, 'pageSize');
  if (pageSize !== undefined) {
    if (pageSize < 1 || pageSize > PAGE_SIZE_MAX) fail('pageSize', `must be from 1 to ${PAGE_SIZE_MAX}`);
    into.pageSize = pageSize;
  }
  const pageToken = textIf(r.pageToken ?? r.page_token, 'pageToken');
  if (pageToken !== undefined && pageToken !== '') into.pageToken = pageToken;
}

/**
 * Milliseconds since the epoch, as text in a query, or RFC 3339, which Go sends. 8.64e15 is the last instant that a Date can hold.
 */
function readInstant(value: unknown, name: string): string {
  if (typeof value === 'string' && value.includes('T')) return timestampIf(value, name) ?? fail(name, 'must be a time');
  const ms = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof ms !== 'number' || !Number.isInteger(ms) || Math.abs(ms) > 8.64e15)
    return fail(name, 'must be milliseconds since 1970, or a time as in RFC 3339');
  return new Date(ms).toISOString();
}

/** Reads a page of `tasks/list`. Absent members get the values of a single page. */
export function taskPageReader(task: Reader<Task>): Reader<TaskPage> {
  return (raw, env) => {
    const p = object(raw);
    const tasks = list(p.tasks, 'tasks', task, env);
    return {
      tasks,
      nextPageToken: textIf(p.nextPageToken ?? p.next_page_token, 'nextPageToken') ?? '',
      pageSize: countIf(p.pageSize ?? p.page_size, 'pageSize') ?? tasks.length,
      totalSize: countIf(p.totalSize ?? p.total_size, 'totalSize') ?? tasks.length,
    };
  };
}
