import type { ContextId, TaskId } from '#protocol';
import type { Caller } from '../options.ts';
import type { ChatMessage } from './read.ts';

/** Where a chat continues: its context, and its task if that waits for input. */
export interface Thread {
  readonly contextId: ContextId;
  readonly taskId?: TaskId;
}

/**
 * Finds the A2A context of a chat. OpenAI's API has no chat ids; each request repeats the whole
 * conversation, so the conversation itself identifies the chat.
 */
export interface ChatMemory {
  /** The context of a conversation that was remembered before. */
  recall(chat: ChatIdentity): Promise<Thread | undefined>;
  /** Stores the context for the conversation, including the newest answer. */
  remember(chat: ChatIdentity, thread: Thread): Promise<void>;
}

/** What identifies a chat. Equal conversations of two callers, or with two agents, are two chats. */
export interface ChatIdentity {
  readonly caller: Caller;
  readonly agent: string;
  readonly messages: readonly ChatMessage[];
}

const CHATS_MAX = 10_000;

/**
 * Keeps the most recent chats of this process in memory, 10,000 by default. When a chat is not found,
 * the agent gets the whole conversation again.
 */
export function createChatMemory(chatsMax: number = CHATS_MAX): ChatMemory {
  const threads = new Map<string, Thread>();
  return {
    recall: async (chat) => threads.get(await nameOf(chat)),
    remember: async (chat, thread) => {
      const name = await nameOf(chat);
      threads.delete(name);
      threads.set(name, thread);
      const [oldest] = threads.keys();
      if (threads.size > chatsMax && oldest !== undefined) threads.delete(oldest);
    },
  };
}

/** Hash of the caller, the agent and the conversation. The conversation itself is not kept. */
async function nameOf({ caller, agent, messages }: ChatIdentity): Promise<string> {
  const { principal, tenant } = caller;
  // Trimmed, because some clients trim the answers that they display and then send the trimmed text back.
  const told = messages.map(({ role, parts }) => [role, parts.map((part) => (part.text === undefined ? part : part.text.trim()))]);
  const bytes = new TextEncoder().encode(JSON.stringify([principal.id, tenant ?? '', agent, told]));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
