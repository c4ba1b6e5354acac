import type { PushConfigId, TaskId } from '../../ids.ts';
import type { Mutable } from '../../json.ts';
import type { AuthenticationInfo, PushConfig } from '../../push.ts';
import type { ReadEnv } from '../dialect.ts';
import { filledText, id, idIf, member, memberIf, object, text, textIf, texts } from '../shared/read.ts';
import type { Out } from './parts.ts';

/** PushNotificationConfig: everything but the task, which stands beside it or in a resource name. */
export function readConfig(raw: unknown, env: ReadEnv): Mutable<PushConfig> {
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

/** 1.0 has one scheme where 0.x has a list; the first is the one a sender prefers. */
function readAuthentication(raw: unknown): AuthenticationInfo {
  const a = object(raw);
  const [first] = texts(a.schemes, 'schemes');
  const scheme = filledText(first, 'schemes[0]');
  const credentials = textIf(a.credentials, 'credentials');
  return credentials === undefined || credentials === '' ? { scheme } : { scheme, credentials };
}

export function configWriter(hasId: boolean): (config: PushConfig) => Out {
  return (config) => {
    const out: Out = { url: config.url };
    if (hasId && config.id !== undefined) out.id = config.id;
    if (config.token !== undefined) out.token = config.token;
    if (config.authentication !== undefined) {
      const { scheme, credentials } = config.authentication;
      out.authentication = credentials === undefined ? { schemes: [scheme] } : { schemes: [scheme], credentials };
    }
    return out;
  };
}

/** TaskPushNotificationConfig of `kind` JSON: `{taskId, pushNotificationConfig}`. */
export function readTaskConfig(raw: unknown, env: ReadEnv): PushConfig {
  const c = object(raw);
  const taskId = id<TaskId>(c.taskId ?? c.task_id, 'taskId', env);
  const out = member(c.pushNotificationConfig ?? c.push_notification_config, 'pushNotificationConfig', readConfig, env);
  out.taskId = taskId;
  return out;
}

const CONFIGS = '/pushNotificationConfigs/';

/** What a resource name of 0.3's proto says: `tasks/T`, or `tasks/T/pushNotificationConfigs/C`. */
export function namedIds(name: unknown, member: string): { readonly taskId?: string; readonly configId?: string } {
  if (name === undefined || name === null) return {};
  const path = text(name, member);
  if (!path.startsWith('tasks/')) return {};
  const cut = path.indexOf(CONFIGS);
  return cut === -1 ? { taskId: path.slice(6) } : { taskId: path.slice(6, cut), configId: path.slice(cut + CONFIGS.length) };
}

export function configName(config: { readonly taskId?: string; readonly id?: string }): string {
  return `tasks/${config.taskId ?? ''}${CONFIGS}${config.id ?? ''}`;
}
