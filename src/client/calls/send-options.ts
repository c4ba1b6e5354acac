import type { Message, SendRequest } from '#protocol';
import type { CallOptions } from './request.ts';

/** Options of `send` and `stream`. */
export interface SendOptions extends CallOptions {
  /** Task to continue. Default: a new task. */
  readonly taskId?: string;
  /** Conversation to continue. Default: a new one, which the agent creates. */
  readonly contextId?: string;
  /** The skill to use, by its id. Agents read it from `metadata.skillId` of the message. Default: the agent chooses. */
  readonly skill?: string;
  /** Metadata of the request. */
  readonly metadata?: SendRequest['metadata'];
  /** Metadata of the message. */
  readonly messageMetadata?: Message['metadata'];
  /** Media types that you can use. Default: all. */
  readonly acceptedOutputModes?: readonly string[];
  /** Maximum number of history messages in the result. Default: all. */
  readonly historyLength?: number;
  /** `result` returns the agent's first answer, even if the task is not finished. Default false. */
  readonly returnImmediately?: boolean;
  /** A webhook for the task's events. */
  readonly push?: NonNullable<SendRequest['configuration']>['taskPushNotificationConfig'];
}
