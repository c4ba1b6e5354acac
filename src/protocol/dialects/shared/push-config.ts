import type { PushConfigId } from '../../ids.ts';
import type { Json, Mutable } from '../../json.ts';
import type { AuthenticationInfo, PushConfig } from '../../push.ts';
import type { ReadEnv } from '../dialect.ts';
import { fail, filledText, idIf, memberIf, object, textIf, texts } from './read.ts';

/**
 * PushNotificationConfig of 0.2 and 0.3: everything but the task's id, which is beside it or in a
 * resource name.
 */
export function readPushConfig(raw: unknown, env: ReadEnv): Mutable<PushConfig> {
  const c = object(raw);
  const out: Mutable<PushConfig> = { url: filledText(c.url, 'url') };
  const configId = idIf<PushConfigId>(c.id, 'id', env);
  if (configId !== undefined) out.id = configId;
  const token = textIf(c.token, 'token');
  if (token !== undefined && token !== '') out.token = token;
  const authentication = memberIf(c.authentication, 'authentication', readAuthentication, env);
  if (authentication !== undefined) out.authentication = authentication;
  return out;
}

/**
 * 1.0 has one scheme where 0.x has a list. The first one is the sender's preference. An object without
 * schemes is no authentication: ProtoJSON leaves out an empty list.
 */
function readAuthentication(raw: unknown): AuthenticationInfo | undefined {
  const a = object(raw);
  if (a.schemes === undefined) return undefined;
  const scheme = texts(a.schemes, 'schemes')[0] || fail('schemes', 'must name a scheme');
  const credentials = textIf(a.credentials, 'credentials');
  return credentials ? { scheme, credentials } : { scheme };
}

/** The opposite of `readPushConfig`. */
export function writePushConfig(config: PushConfig): Record<string, Json> {
  const out: Record<string, Json> = { url: config.url };
  if (config.id !== undefined) out.id = config.id;
  if (config.token !== undefined) out.token = config.token;
  if (config.authentication !== undefined) out.authentication = writeAuthentication(config.authentication);
  return out;
}

/** For versions in which a task has one webhook without an id. */
export function writeUnnamedPushConfig({ id: _, ...config }: PushConfig): Record<string, Json> {
  return writePushConfig(config);
}

/** One scheme, in the list that every version before 1.0 has. */
function writeAuthentication({ scheme, credentials }: AuthenticationInfo): Json {
  return credentials === undefined ? { schemes: [scheme] } : { schemes: [scheme], credentials };
}
