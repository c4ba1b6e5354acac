import type { ContextId, TaskId, TenantId } from './ids.ts';
import type { TaskState } from './states.ts';
import type { Timestamp } from './task.ts';

/** What operators and the console read about conversations: their list, and the first words of tasks. */
export interface AdminConversations {
  /** Lists conversations of all owners, the most recently changed first. */
  conversations(request: AdminConversationsRequest): Promise<AdminConversationPage>;
  /** How tasks began. Tasks that do not exist are left out. At most 100 ids. */
  words(ids: readonly TaskId[]): Promise<readonly AdminWords[]>;
  /** Names a conversation. An empty name deletes the name. Returns the conversation. */
  rename(request: AdminRenameRequest): Promise<AdminConversation>;
}

/** A new name for a conversation. */
export interface AdminRenameRequest {
  readonly contextId: ContextId;
  /** Owner of the tasks. Needed only if several callers have used the same context id. */
  readonly principal?: string;
  readonly tenant?: TenantId;
  /** At most 120 characters, on one line. */
  readonly name: string;
}

/** Filters and page of an operator's list of conversations. */
export interface AdminConversationsRequest {
  readonly agent?: string;
  /** Only the conversation in this context. There are several if several callers have used the same id. */
  readonly contextId?: ContextId;
  /** Only conversations whose name contains this text, in any case. All of them are on one page, at most 100. */
  readonly name?: string;
  /** Default 50, maximum 100. */
  readonly pageSize?: number;
  /** `nextPageToken` of the page before. */
  readonly pageToken?: string;
}

/** One page of an operator's list of conversations. */
export interface AdminConversationPage {
  /** A conversation with many tasks may be on several pages: the first one has its newest state. */
  readonly conversations: readonly AdminConversation[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** The tasks of one caller in one context. */
export interface AdminConversation {
  readonly contextId: ContextId;
  /** Name of the owner. */
  readonly principal: string;
  readonly tenant?: TenantId;
  /** The agent of the newest task. */
  readonly agent: string;
  /** The name that a person gave it. */
  readonly name?: string;
  /** The start of the first message, on one line. */
  readonly words: string;
  /** Time of the first message. */
  readonly startedAt: Timestamp;
  /** State of the newest task. */
  readonly state: TaskState;
  /** Time of the last status change. */
  readonly statusAt: Timestamp;
  /** The newest task. */
  readonly lastTask: TaskId;
  /** Number of tasks. */
  readonly tasks: number;
}

/** How a task began, and why it failed. */
export interface AdminWords {
  readonly id: TaskId;
  /** The start of the first message, on one line. */
  readonly text: string;
  readonly startedAt: Timestamp;
  /** The tasks that the first message refers to, for example the one that it repeats. */
  readonly references?: readonly TaskId[];
  /** Of a failed or rejected task: the start of its last message, on one line. Empty if it gave none. */
  readonly cause?: string;
}
