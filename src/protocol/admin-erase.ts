import type { AdminTask } from './admin-task.ts';
import type { ContextId, TenantId } from './ids.ts';
import type { Message } from './message.ts';
import type { PushConfig } from './push.ts';
import type { Task, Timestamp } from './task.ts';

/** Whose data an operator erases or exports. */
export interface AdminOwner {
  readonly principal: string;
  /** Absent: the principal belongs to no tenant. */
  readonly tenant?: TenantId;
}

/** What to erase. */
export interface AdminEraseRequest extends AdminOwner {
  /** Only count what would be erased. */
  readonly dryRun?: boolean;
}

/** What was erased, or would be. */
export interface AdminErased {
  readonly tasks: number;
  /** How many of the tasks were unfinished. They are canceled first. */
  readonly unfinished: number;
  readonly contexts: number;
  readonly pushConfigs: number;
  /** Answers without a task: direct messages, which are kept to recognise a repeated send. */
  readonly directAnswers: number;
  /** Size of the tasks' logs with their files. */
  readonly bytes: number;
}

/** A page of one caller's data. */
export interface AdminExportPage {
  readonly tasks: readonly AdminExportedTask[];
  /** On the last page: answers without a task. */
  readonly directAnswers?: readonly AdminDirectAnswer[];
  /** On the last page: the names that people gave to the conversations. */
  readonly conversationNames?: readonly { readonly contextId: ContextId; readonly name: string }[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** A task with all of its content. */
export interface AdminExportedTask extends Omit<AdminTask, 'isRunning'> {
  readonly task: Task;
  /** Without secrets. */
  readonly pushConfigs: readonly PushConfig[];
}

/** A direct message that answered a send. */
export interface AdminDirectAnswer {
  readonly agent: string;
  readonly at: Timestamp;
  /** The Idempotency-Key or message id of the send. */
  readonly name: string;
  readonly contextId?: ContextId;
  readonly message?: Message;
}
