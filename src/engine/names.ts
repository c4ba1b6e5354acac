import type { ContextId } from '#protocol';
import type { Owner, TaskScope } from './owners.ts';

/** What identifies a conversation. */
export interface ConversationOwner {
  /** The caller. */
  readonly owner: Owner;
  /** Its context. */
  readonly contextId: ContextId;
}

/** The name that a person gave to a conversation. */
export interface ConversationName extends ConversationOwner {
  /** Empty only in `put`, which then deletes the name. */
  readonly name: string;
}

/** The names of conversations, beside the tasks. A name is not part of a commit: the last one that was written counts. */
export interface ConversationNames {
  /** The names of these conversations, in any order. Those without a name are left out. */
  of(conversations: readonly ConversationOwner[]): readonly ConversationName[] | Promise<readonly ConversationName[]>;
  /** All names of a scope, in any order. */
  within(scope: TaskScope): readonly ConversationName[] | Promise<readonly ConversationName[]>;
  /** Replaces the name of a conversation, or deletes it. Durable when it returns. */
  put(name: ConversationName): void | Promise<void>;
}
