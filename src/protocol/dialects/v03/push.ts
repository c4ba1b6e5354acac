import type { TaskId } from '../../ids.ts';
import type { PushConfig } from '../../push.ts';
import type { ReadEnv } from '../dialect.ts';
import { readPushConfig } from '../shared/push-config.ts';
import { id, member, object, text } from '../shared/read.ts';

/** TaskPushNotificationConfig of `kind` JSON: `{taskId, pushNotificationConfig}`. */
export function readTaskConfig(raw: unknown, env: ReadEnv): PushConfig {
  const c = object(raw);
  const taskId = id<TaskId>(c.taskId ?? c.task_id, 'taskId', env);
  const out = member(c.pushNotificationConfig ?? c.push_notification_config, 'pushNotificationConfig', readPushConfig, env);
  out.taskId = taskId;
  return out;
}

const CONFIGS = '/pushNotificationConfigs/';

/** The ids in a resource name of 0.3's proto: `tasks/T`, or `tasks/T/pushNotificationConfigs/C`. */
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
