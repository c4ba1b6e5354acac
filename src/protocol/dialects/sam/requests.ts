import type { ExternalId } from '../../ids.ts';
import type { Json, JsonObject, Mutable } from '../../json.ts';
import type { CancelRequest, SendConfiguration, SendRequest, SendResult } from '../../requests.ts';
import type { ReadEnv } from '../dialect.ts';
import { readPushConfig, writePushConfig } from '../shared/push-config.ts';
import type { Raw } from '../shared/read.ts';
import { countIf, fail, flagIf, idIf, member, memberIf, metadataIf, object, taskIdIn, textsIf } from '../shared/read.ts';
import { readEvent, readRequestMessage } from './model.ts';
import type { Spelling } from './write.ts';
import { writeMessage } from './write.ts';

/**
 * The caller names the task: by `task_id` of the message, otherwise by the envelope's id
 * (docs/dialects/sam.md, "Model"). Both are names, never ids of the engine, so `message.taskId` stays empty
 * and a follow-up finds the task by its name.
 */
export function readSendRequest(raw: unknown, env: ReadEnv): SendRequest {
  const r = object(raw);
  const out: Mutable<SendRequest> = { message: member(r.message, 'message', readRequestMessage, env) };
  const alias = member(r.message, 'message', readName, env) ?? nameOfEnvelope(env);
  if (alias !== undefined) out.alias = alias;
  const configuration = memberIf(r.configuration, 'configuration', readConfiguration, env);
  if (configuration !== undefined) out.configuration = configuration;
  const metadata = metadataIf(r.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

function readName(raw: unknown, env: ReadEnv): ExternalId | undefined {
  const m = object(raw);
  return idIf<ExternalId>(m.taskId ?? m.task_id, 'taskId', env);
}

function nameOfEnvelope(env: ReadEnv): ExternalId | undefined {
  return env.rpcId === undefined || env.rpcId === null ? undefined : idIf<ExternalId>(String(env.rpcId), 'id', env);
}

/** Writes the name into the message as well, so that it does not depend on the envelope's id. */
export function writeSendRequest(request: SendRequest, spelling: Spelling): Json {
  const { message, configuration, metadata } = request;
  const out: Record<string, Json> = { message: writeMessage(message, spelling, request.alias ?? message.taskId) };
  if (configuration !== undefined) out.configuration = writeConfiguration(configuration, spelling);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

function readConfiguration(raw: unknown, env: ReadEnv): SendConfiguration {
  const c = object(raw);
  const out: Mutable<SendConfiguration> = {};
  const modes = textsIf(c.acceptedOutputModes ?? c.accepted_output_modes, 'acceptedOutputModes');
  if (modes !== undefined) out.acceptedOutputModes = modes;
  const push = memberIf(c.pushNotificationConfig ?? c.push_notification_config, 'pushNotificationConfig', readPushConfig, env);
  if (push !== undefined) out.taskPushNotificationConfig = push;
  const historyLength = countIf(c.historyLength ?? c.history_length, 'historyLength');
  if (historyLength !== undefined) out.historyLength = historyLength;
  const blocking = flagIf(c.blocking, 'blocking');
  if (blocking !== undefined) out.returnImmediately = !blocking;
  return out;
}

function writeConfiguration(configuration: SendConfiguration, spelling: Spelling): JsonObject {
  const wire = spelling === 'wire';
  const { acceptedOutputModes, taskPushNotificationConfig, historyLength, returnImmediately } = configuration;
  const out: Record<string, Json> = {};
  if (acceptedOutputModes !== undefined) out[wire ? 'acceptedOutputModes' : 'accepted_output_modes'] = acceptedOutputModes;
  if (taskPushNotificationConfig !== undefined) {
    out[wire ? 'pushNotificationConfig' : 'push_notification_config'] = writePushConfig(taskPushNotificationConfig);
  }
  if (historyLength !== undefined) out[wire ? 'historyLength' : 'history_length'] = historyLength;
  if (returnImmediately !== undefined) out.blocking = !returnImmediately;
  return out;
}

/** The result of a send must be a task or a message. */
export function readSendResult(raw: unknown, env: ReadEnv): SendResult {
  const event = readEvent(raw, env);
  if (event.task !== undefined) return { task: event.task };
  if (event.message !== undefined) return { message: event.message };
  return fail('kind', 'must be one of task, message');
}

/**
 * The wire has `{id}`. The documents name the method and no member, so other spellings of a task id are
 * accepted too.
 */
export function readCancelRequest(raw: unknown, env: ReadEnv): CancelRequest {
  const r: Raw = object(raw);
  const out: Mutable<CancelRequest> = { id: taskIdIn(r, env) };
  const metadata = metadataIf(r.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

export function writeCancelRequest(request: CancelRequest): Json {
  return request.metadata === undefined ? { id: request.id } : { id: request.id, metadata: request.metadata };
}
