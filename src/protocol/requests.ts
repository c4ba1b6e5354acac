import type { ContextId, ExternalId, PushConfigId, Seq, TaskId, TenantId } from './ids.ts';
import type { Metadata, OneOf } from './json.ts';
import type { Message } from './message.ts';
import type { PushConfig } from './push.ts';
import type { TaskState } from './states.ts';
import type { Task, Timestamp } from './task.ts';

interface Tenanted {
  readonly tenant?: TenantId;
}

export interface SendConfiguration {
  readonly acceptedOutputModes?: readonly string[];
  readonly taskPushNotificationConfig?: PushConfig;
  readonly historyLength?: number;
  /** Absent or false: the send waits until the task is finished or needs input. */
  readonly returnImmediately?: boolean;
  /** 1.1 draft: refuse unless the task stands at this sequence number. */
  readonly ifGenerationMatch?: Seq;
}

export interface SendRequest extends Tenanted {
  readonly message: Message;
  readonly configuration?: SendConfiguration;
  readonly metadata?: Metadata;
  /** The caller's own name for the task, in dialects where the caller names it. Not part of A2A 1.0 JSON. */
  readonly alias?: ExternalId;
}
export type SendResult = OneOf<{ task: Task; message: Message }>;

export interface GetRequest extends Tenanted {
  readonly id: TaskId;
  readonly historyLength?: number;
  /** 1.1 draft: hold the answer until the task is past this sequence number. */
  readonly currentGeneration?: Seq;
}

export interface ListRequest extends Tenanted {
  readonly contextId?: ContextId;
  readonly status?: TaskState;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly statusTimestampAfter?: Timestamp;
  readonly includeArtifacts?: boolean;
}

export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

export interface CancelRequest extends Tenanted {
  readonly id: TaskId;
  readonly metadata?: Metadata;
}

export interface SubscribeRequest extends Tenanted {
  readonly id: TaskId;
  /** Everything up to here has been seen: `Last-Event-ID`, or a client's own cursor. */
  readonly after?: Seq;
}

export interface PushGetRequest extends Tenanted {
  readonly taskId: TaskId;
  /** Absent in dialects that allow it: the only, or first, config of the task. */
  readonly id?: PushConfigId;
}

export interface PushListRequest extends Tenanted {
  readonly taskId: TaskId;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

export interface PushPage {
  readonly configs: readonly PushConfig[];
  readonly nextPageToken?: string;
}

export interface PushDeleteRequest extends Tenanted {
  readonly taskId: TaskId;
  readonly id: PushConfigId;
}

export interface ExtendedCardRequest extends Tenanted {}
