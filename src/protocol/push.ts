import type { PushConfigId, TaskId, TenantId } from './ids.ts';

/** Credentials that the server sends with a webhook, in its `Authorization` header. */
export interface AuthenticationInfo {
  /** For example `Bearer`. */
  readonly scheme: string;
  /** What follows the scheme, for example a token. Never returned by reads. */
  readonly credentials?: string;
}

/** A webhook for the events of one task (TaskPushNotificationConfig in A2A 1.0.1). */
export interface PushConfig {
  /** Address that receives the events by POST. */
  readonly url: string;
  /** Chosen by the caller or by the server. Creating a config with an existing id replaces it. */
  readonly id?: PushConfigId;
  /** Absent inside the configuration of a send. */
  readonly taskId?: TaskId;
  /** Tenant of the request, in dialects that have one. */
  readonly tenant?: TenantId;
  /** Sent with every delivery, so that the receiver can recognise it. */
  readonly token?: string;
  /** Sent in the `Authorization` header of every delivery. */
  readonly authentication?: AuthenticationInfo;
}
