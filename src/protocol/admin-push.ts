import type { DialectId, PushConfigId, Seq, TaskId, TenantId } from './ids.ts';
import type { Timestamp } from './task.ts';

/** The log of deliveries to webhooks, for operators. */
export interface AdminPushLog {
  /** The latest attempts, the newest first. Absent when the node keeps none in memory. */
  attempts?(request: AdminAttemptsRequest): readonly AdminAttempt[];
  /**
   * Delivers an event to a webhook of its task once more, with the same webhook id. Throws if the task
   * or the webhook is gone.
   */
  resend(request: AdminResendRequest): Promise<AdminDelivery>;
}

/** Which attempts to return. */
export interface AdminAttemptsRequest {
  readonly taskId?: TaskId;
  /** Only attempts with a higher number. */
  readonly after?: number;
}

/** The event and the webhook. */
export interface AdminResendRequest {
  readonly taskId: TaskId;
  readonly configId: PushConfigId;
  readonly seq: Seq;
}

/** One attempt to deliver an event to a webhook. Credentials are removed. */
export interface AdminAttempt extends AdminResendRequest {
  readonly n: number;
  readonly at: Timestamp;
  readonly agent: string;
  /** The same for every attempt to deliver the event (`webhook-id`). */
  readonly webhookId: string;
  /** Without user, password and the values of the query. */
  readonly url: string;
  /** `gone` and `refused` are not tried again, `failed` is. */
  readonly outcome: 'delivered' | 'gone' | 'refused' | 'failed';
  /** Why it was not delivered. */
  readonly problem?: string;
  /** How long the receiver took, in milliseconds. */
  readonly ms: number;
  readonly request: AdminAttemptMessage;
  /** Absent when the receiver sent none. */
  readonly response?: AdminAttemptMessage & { readonly status: number };
}

/** A request or response of an attempt. */
export interface AdminAttemptMessage {
  readonly headers: readonly (readonly [string, string])[];
  /** The start of the body. */
  readonly body: string;
  /** Whether the body was longer. */
  readonly isCut: boolean;
}

/** The webhook queue of one task and one push config, without secrets. */
export interface AdminDelivery {
  readonly id: number;
  /** `dead`: delivery was given up. An operator can replay or discard it. */
  readonly state: 'open' | 'dead';
  readonly taskId: TaskId;
  readonly agent: string;
  readonly principal: string;
  readonly tenant?: TenantId;
  readonly configId: PushConfigId;
  readonly url: string;
  /** Dialect in which the payload is written. */
  readonly dialect: DialectId;
  /**
   * Number of events that have not been delivered: from `first` to `last`. 0 when everything has
   * arrived.
   */
  readonly pending: number;
  readonly first: Seq;
  readonly last: Seq;
  /** Failed attempts for the first pending event. */
  readonly attempts: number;
  /** Time of the next attempt, if the last one failed. */
  readonly dueAt?: Timestamp;
  /** Time of the first failed attempt in a row. */
  readonly failingSince?: Timestamp;
  /** Error of the last attempt. */
  readonly problem?: string;
}
