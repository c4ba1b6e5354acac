import type { PushConfigId, TaskId, TenantId } from './ids.ts';

export interface AuthenticationInfo {
  readonly scheme: string;
  readonly credentials?: string;
}

/** A2A 1.0.1 TaskPushNotificationConfig (flat). `taskId` is absent inside a send's configuration. */
export interface PushConfig {
  readonly url: string;
  readonly id?: PushConfigId;
  readonly taskId?: TaskId;
  readonly tenant?: TenantId;
  readonly token?: string;
  readonly authentication?: AuthenticationInfo;
}
