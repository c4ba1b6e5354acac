import type { ContextId, ExternalId, PushConfigId, Seq, TaskId, TenantId } from './ids.ts';
import type { Metadata, OneOf } from './json.ts';
import type { Message } from './message.ts';
import type { PushConfig } from './push.ts';
import type { TaskState } from './states.ts';
import type { Task, Timestamp } from './task.ts';

interface Tenanted {
  readonly tenant?: TenantId;
}

/** How a send should behave. */
export interface SendConfiguration {
  /** Media types that the caller can use. */
  readonly acceptedOutputModes?: readonly string[];
  /** A webhook to register for the task. */
  readonly taskPushNotificationConfig?: PushConfig;
  /** Maximum number of history messages in the result. 0: none. Absent: all. */
  readonly historyLength?: number;
  /**
   * True: return the task as soon as it exists. Otherwise the send waits until the task is finished or
   * needs input.
   */
  readonly returnImmediately?: boolean;
  /** 1.1 draft: fail unless the task is at this sequence number. */
  readonly ifGenerationMatch?: Seq;
}

/** Sends a message. It starts a task, or continues the task that `message.taskId` names. */
export interface SendRequest extends Tenanted {
  /** What the caller says. */
  readonly message: Message;
  /** How to answer. Absent: wait for the result. */
  readonly configuration?: SendConfiguration;
  /** Free members of the request, not of the message. */
  readonly metadata?: Metadata;
  /**
   * Task name that the caller chose, in dialects where callers name tasks. Not part of A2A 1.0 JSON.
   */
  readonly alias?: ExternalId;
}
/** Result of a send: a task, or a direct message when the agent answered without one. */
export type SendResult = OneOf<{ task: Task; message: Message }>;

/** Reads one task. */
export interface GetRequest extends Tenanted {
  readonly id: TaskId;
  /** Maximum number of history messages. Absent: all. */
  readonly historyLength?: number;
  /** 1.1 draft: wait until the task is past this sequence number. */
  readonly currentGeneration?: Seq;
}

/** Lists the caller's tasks, the most recently changed first. All filters must match. */
export interface ListRequest extends Tenanted {
  readonly contextId?: ContextId;
  readonly status?: TaskState;
  /** From 1 to 100. Default 50. */
  readonly pageSize?: number;
  /** `nextPageToken` of the previous page. */
  readonly pageToken?: string;
  readonly historyLength?: number;
  /** Only tasks whose status changed at this time or later. */
  readonly statusTimestampAfter?: Timestamp;
  /** Default false. */
  readonly includeArtifacts?: boolean;
}

/** One page of a list. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  /** Number of tasks that match, over all pages. */
  readonly totalSize: number;
}

/** Cancels a task. */
export interface CancelRequest extends Tenanted {
  readonly id: TaskId;
  readonly metadata?: Metadata;
}

/** Follows the events of a task. */
export interface SubscribeRequest extends Tenanted {
  readonly id: TaskId;
  /** Cursor: sequence number of the last event that the caller has seen (`Last-Event-ID` in SSE). */
  readonly after?: Seq;
}

/** Reads one push config. */
export interface PushGetRequest extends Tenanted {
  readonly taskId: TaskId;
  /** May be absent in older dialects: then the first config of the task is meant. */
  readonly id?: PushConfigId;
}

/** Lists the push configs of a task. */
export interface PushListRequest extends Tenanted {
  readonly taskId: TaskId;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

/** One page of push configs. */
export interface PushPage {
  readonly configs: readonly PushConfig[];
  readonly nextPageToken?: string;
}

/** Deletes a push config. Deleting one that does not exist succeeds. */
export interface PushDeleteRequest extends Tenanted {
  readonly taskId: TaskId;
  readonly id: PushConfigId;
}

/** Reads the card for authenticated callers. */
export interface ExtendedCardRequest extends Tenanted {}
