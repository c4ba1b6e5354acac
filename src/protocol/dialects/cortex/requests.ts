import type { PushConfigId, TaskId } from '../../ids.ts';
import type { Json, JsonObject, Mutable } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { AuthenticationInfo, PushConfig } from '../../push.ts';
import type { ExtendedCardRequest, SendConfiguration, SendRequest, SendResult } from '../../requests.ts';
import type { Codec } from '../define.ts';
import type { ReadEnv } from '../dialect.ts';
import type { SendReaders } from '../shared/flat-requests.ts';
import { readFlatConfiguration, readFlatSend, withTenant, writeFlatConfiguration } from '../shared/flat-requests.ts';
import { filledText, idIf, isRaw, member, memberIf, object, textIf } from '../shared/read.ts';
import { writeModes } from './card.ts';
import { answerTask, model, task } from './model.ts';

const SEND_READERS: SendReaders = { message: model.requestMessage.read, configuration: readConfiguration };

export const send: Codec<SendRequest> = {
  read: (raw, env) => readFlatSend(raw, env, SEND_READERS),
  write: ({ message, configuration, metadata, tenant }) => {
    const out: { [key: string]: Json } = { message: model.message.write(message) };
    if (configuration !== undefined) out.configuration = writeConfiguration(configuration);
    if (metadata !== undefined) out.metadata = metadata;
    if (tenant !== undefined) out.tenant = tenant;
    return out;
  },
};

/** A bare task. The reader also accepts 1.0's wrappers, since Cortex claims to speak 1.0. */
export const sendResult: Codec<SendResult> = {
  read: (raw, env) => {
    const r = object(raw);
    if (isRaw(r.task)) return { task: member(r.task, 'task', task.read, env) };
    if (isRaw(r.message)) return { message: member(r.message, 'message', model.message.read, env) };
    return { task: task.read(raw, env) };
  },
  write: (result) => task.write(result.task ?? answerTask(result.message)),
};

export const cardRequest: Codec<ExtendedCardRequest> = {
  read: (raw, env) => (raw === undefined || raw === null ? {} : withTenant({}, object(raw), env)),
  write: (value) => jsonOf(value),
};

/**
 * The canonical model has no place for `idempotencyKey` and `acceptedContextExtensions`. Cortex itself
 * reads none of these members.
 */
function readConfiguration(raw: unknown, env: ReadEnv): SendConfiguration {
  const out = readFlatConfiguration(raw);
  const push = memberIf(object(raw).pushNotificationConfig, 'pushNotificationConfig', readPushConfig, env);
  if (push !== undefined) out.taskPushNotificationConfig = push;
  return out;
}

function writeConfiguration(configuration: SendConfiguration): JsonObject {
  const { acceptedOutputModes: modes, taskPushNotificationConfig: push } = configuration;
  const out = writeFlatConfiguration(configuration);
  if (modes !== undefined) out.acceptedOutputModes = writeModes(modes);
  if (push !== undefined) out.pushNotificationConfig = writePushConfig(push);
  return out;
}

function readPushConfig(raw: unknown, env: ReadEnv): PushConfig {
  const c = object(raw);
  const out: Mutable<PushConfig> = { url: filledText(c.url, 'url') };
  const configId = idIf<PushConfigId>(c.id, 'id', env);
  if (configId !== undefined) out.id = configId;
  const taskId = idIf<TaskId>(c.taskId, 'taskId', env);
  if (taskId !== undefined) out.taskId = taskId;
  const token = textIf(c.token, 'token');
  if (token) out.token = token;
  const authentication = memberIf(c.authentication, 'authentication', readAuthentication, env);
  if (authentication !== undefined) out.authentication = authentication;
  return withTenant(out, c, env);
}

/** CortexPrism calls the scheme `schemeId` and the credentials `token`. */
function readAuthentication(raw: unknown): AuthenticationInfo {
  const a = object(raw);
  const scheme = filledText(a.schemeId ?? a.scheme, 'schemeId');
  const credentials = textIf(a.token ?? a.credentials, 'token');
  return credentials ? { scheme, credentials } : { scheme };
}

function writePushConfig({ authentication, ...config }: PushConfig): JsonObject {
  if (authentication === undefined) return config;
  const { scheme, credentials } = authentication;
  return { ...config, authentication: { schemeId: scheme, ...(credentials === undefined ? {} : { token: credentials }) } };
}
