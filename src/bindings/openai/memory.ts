import type { ContextId, TaskId } from '#protocol';
import type { Caller } from '../options.ts';
import type { ChatMessage } from './read.ts';

/** Where a chat continues: its context, and the task that waits for input, if there is one. */
export interface Thread {
  readonly contextId: ContextId;
  readonly taskId?: TaskId;
}

/** Chats have no id in this API: each request repeats the whole conversation. So the conversation itself identifies the chat. */
export interface ChatMemory {
  recall(chat: ChatIdentity): Promise<Thread | undefined>;
  remember(chat: ChatIdentity, thread: Thread): Promise<void>;
}

export interface ChatIdentity {
  readonly caller: Caller;
  readonly agent: string;
  readonly messages: readonly ChatMessage[];
}

const CHATS_MAX = 10_000;

/** The newest chats of this process. For a chat that has been forgotten, the agent gets the whole conversation again. */
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

async function nameOf({ caller, agent, messages }: ChatIdentity): Promise<string> {
  const { principal, tenant } = caller;
  // Clients trim what they show, and show what they trimmed to us.
  const told = messages.map(({ role, parts }) => [role, parts.map((part) => (part.text === undefined ? part : part.text.trim()))]);
  const bytes = new TextEncoder().encode(JSON.stringify([principal.id, tenant ?? '', agent, told]));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
