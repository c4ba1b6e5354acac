import type { ContextId, ExternalId, TaskId } from '../../ids.ts';
import { pushConfigId } from '../../ids.ts';
import type { Json, JsonDraft, Mutable } from '../../json.ts';
import type { AuthenticationInfo, PushConfig } from '../../push.ts';
import type { CancelRequest, GetRequest, PushGetRequest, SendConfiguration, SendRequest, SubscribeRequest } from '../../requests.ts';
import type { ReadEnv } from '../dialect.ts';
import { modesIf } from '../shared/card.ts';
import { writeUnnamedPushConfig } from '../shared/push-config.ts';
import { countIf, fail, filledText, id, idIf, member, memberIf, metadataIf, object, taskIdIn, textIf, texts } from '../shared/read.ts';
import { readRequestMessage, writeMessage } from './model.ts';

/**
 * In 0.1 an absent length and 0 mean no history; in the canonical model an absent length means no
 * limit. So absent is read as 0, and 0 is written as absent, while no limit is written as the greatest
 * possible length.
 */
const NO_LIMIT = 0x7fffffff;

function readHistoryLength(value: unknown): number | undefined {
  const length = countIf(value, 'historyLength') ?? 0;
  return length === NO_LIMIT ? undefined : length;
}

function writeHistoryLength(length: number | undefined, out: JsonDraft): void {
  if (length !== 0) out.historyLength = length ?? NO_LIMIT;
}

/** TaskSendParams. `id` is the caller's name for the task, known or new; the session is the context. */
export function readSendRequest(raw: unknown, env: ReadEnv): SendRequest {
  const r = object(raw);
  const alias = id<ExternalId>(r.id, 'id', env);
  const message = member(r.message, 'message', readRequestMessage, env);
  const contextId = idIf<ContextId>(r.sessionId, 'sessionId', env);
  if (contextId !== undefined) message.contextId = contextId;
  const configuration: Mutable<SendConfiguration> = {};
  const out: Mutable<SendRequest> = { message, alias, configuration };
  // Not in the schema, but Google's own client sent it.
  const modes = modesIf(r.acceptedOutputModes, 'acceptedOutputModes');
  if (modes !== undefined) configuration.acceptedOutputModes = modes;
  const push = memberIf(r.pushNotification, 'pushNotification', readHook, env);
  if (push !== undefined) configuration.taskPushNotificationConfig = { ...push, id: pushConfigId(alias) };
  const historyLength = readHistoryLength(r.historyLength);
  if (historyLength !== undefined) configuration.historyLength = historyLength;
  const metadata = metadataIf(r.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

/**
 * 0.1 needs a name for the task. A caller without one uses the id of its task, or else the message's
 * id.
 */
export function writeSendRequest(request: SendRequest): Json {
  const { message, configuration } = request;
  const out: JsonDraft = { id: request.alias ?? message.taskId ?? message.messageId };
  if (message.contextId !== undefined) out.sessionId = message.contextId;
  out.message = writeMessage(message);
  if (configuration?.acceptedOutputModes !== undefined) out.acceptedOutputModes = configuration.acceptedOutputModes;
  if (configuration?.taskPushNotificationConfig !== undefined)
    out.pushNotification = writeUnnamedPushConfig(configuration.taskPushNotificationConfig);
  writeHistoryLength(configuration?.historyLength, out);
  if (request.metadata !== undefined) out.metadata = request.metadata;
  return out;
}

/** TaskQueryParams: `{id, historyLength}`. */
export function readGetRequest(raw: unknown, env: ReadEnv): GetRequest {
  const r = object(raw);
  const out: Mutable<GetRequest> = { id: taskIdIn(r, env) };
  const historyLength = readHistoryLength(r.historyLength);
  if (historyLength !== undefined) out.historyLength = historyLength;
  return out;
}

export function writeGetRequest(request: GetRequest): Json {
  const out: JsonDraft = { id: request.id };
  writeHistoryLength(request.historyLength, out);
  return out;
}

/** TaskIdParams: `{id}`. */
export function readCancelRequest(raw: unknown, env: ReadEnv): CancelRequest {
  const r = object(raw);
  const metadata = metadataIf(r.metadata, 'metadata', env);
  const task = taskIdIn(r, env);
  return metadata === undefined ? { id: task } : { id: task, metadata };
}

export function writeCancelRequest(request: CancelRequest): Json {
  return request.metadata === undefined ? { id: request.id } : { id: request.id, metadata: request.metadata };
}

/** TaskQueryParams too, but a stream has no history. */
export function readSubscribeRequest(raw: unknown, env: ReadEnv): SubscribeRequest {
  return { id: taskIdIn(object(raw), env) };
}

export function readPushGetRequest(raw: unknown, env: ReadEnv): PushGetRequest {
  return { taskId: id<TaskId>(object(raw).id, 'id', env) };
}

/**
 * `{id, pushNotificationConfig}`, where the id is the task's. A task has one config, and setting it
 * again replaces it. So the config gets the task's id.
 */
export function readPushConfig(raw: unknown, env: ReadEnv): PushConfig {
  const c = object(raw);
  const taskId = id<TaskId>(c.id, 'id', env);
  const hook = member(c.pushNotificationConfig, 'pushNotificationConfig', readHook, env);
  return { ...hook, id: pushConfigId(taskId), taskId };
}

export function writePushConfig(config: PushConfig): Json {
  return { id: config.taskId ?? '', pushNotificationConfig: writeUnnamedPushConfig(config) };
}

/** A webhook of 0.1, which has no id. */
function readHook(raw: unknown, env: ReadEnv): PushConfig {
  const h = object(raw);
  const out: Mutable<PushConfig> = { url: filledText(h.url, 'url') };
  const token = textIf(h.token, 'token');
  if (token) out.token = token;
  const authentication = memberIf(h.authentication, 'authentication', readAuthentication, env);
  if (authentication !== undefined) out.authentication = authentication;
  return out;
}

/**
 * 0.1 offers several schemes for one set of credentials. The first one is used, as in the official
 * SDKs.
 */
function readAuthentication(raw: unknown): AuthenticationInfo | undefined {
  const a = object(raw);
  const [scheme] = texts(a.schemes, 'schemes');
  const credentials = textIf(a.credentials, 'credentials');
  if (!scheme) return credentials ? fail('schemes', 'must name the scheme of the credentials') : undefined;
  return credentials ? { scheme, credentials } : { scheme };
}
