import { signal } from '@preact/signals';
import type { AdminConversation, AdminTask } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { plainWords } from '../ui/plain.ts';

const PAGE = 50;

/** The conversations of the node that are loaded, newest first. Undefined until the first are. */
export const conversations = signal<readonly AdminConversation[] | undefined>(undefined);
/** Why they could not be read, or renamed. */
export const conversationsProblem = signal('');
/** Where older ones are. Empty: there are none. */
let next = '';

/** Reads the newest conversations again. Those that were loaded before stay. */
export async function refreshConversations(): Promise<void> {
  try {
    const page = await admin.conversations(new URLSearchParams({ pageSize: String(PAGE) }));
    const isFirst = conversations.value === undefined;
    // When all fit on one page, a missing one was deleted.
    conversations.value = page.nextPageToken === '' ? page.conversations : joined(page.conversations, conversations.value ?? []);
    if (isFirst) next = page.nextPageToken;
    conversationsProblem.value = '';
  } catch (thrown) {
    conversationsProblem.value = wordsFor(thrown);
  }
}

/** Whether older conversations can be loaded. */
export function hasOlder(): boolean {
  return next !== '' && conversations.value !== undefined;
}

export async function loadOlder(): Promise<void> {
  try {
    const page = await admin.conversations(new URLSearchParams({ pageSize: String(PAGE), pageToken: next }));
    conversations.value = joined(conversations.value ?? [], page.conversations);
    next = page.nextPageToken;
  } catch (thrown) {
    conversationsProblem.value = wordsFor(thrown);
  }
}

/** Loads the conversations whose name contains a text. */
export function loadNamed(text: string): Promise<void> {
  return loadMore({ name: text });
}

/** Loads a conversation that is older than the loaded ones. */
export function loadContext(contextId: string): Promise<void> {
  return loadMore({ contextId });
}

async function loadMore(filter: Readonly<Record<string, string>>): Promise<void> {
  const { conversations: found } = await admin.conversations(new URLSearchParams(filter));
  const all = joined(conversations.value ?? [], found);
  conversations.value = [...all].sort((one, other) => other.statusAt.localeCompare(one.statusAt));
}

/** Names a conversation, for every browser. An empty name deletes it. */
export async function renameConversation(conversation: AdminConversation, name: string): Promise<void> {
  try {
    const renamed = await admin.rename(conversation, name);
    conversations.value = (conversations.value ?? []).map((one) => (keyOfConversation(one) === keyOfConversation(renamed) ? renamed : one));
    conversationsProblem.value = '';
  } catch (thrown) {
    conversationsProblem.value = `The conversation was not renamed: ${wordsFor(thrown)}`;
  }
}

/** Deletes all tasks of a conversation. Those that run are canceled. */
export async function deleteConversation(conversation: AdminConversation): Promise<void> {
  const { contextId, principal, tenant } = conversation;
  const read = async (): Promise<readonly AdminTask[]> => {
    const { tasks } = await admin.tasks(new URLSearchParams({ contextId, principal, pageSize: '1000' }));
    return tasks.filter((task) => task.tenant === tenant);
  };
  for (let tasks = await read(); tasks.length > 0; tasks = await read()) for (const { id } of tasks) await admin.remove(id);
  conversations.value = (conversations.value ?? []).filter((one) => keyOfConversation(one) !== keyOfConversation(conversation));
}

export function keyOfConversation({ tenant, principal, contextId }: AdminConversation): string {
  return `${tenant ?? ''}\n${principal}\n${contextId}`;
}

/** The newer list counts: an older page may have a conversation again, with an older state. */
function joined(newer: readonly AdminConversation[], older: readonly AdminConversation[]): readonly AdminConversation[] {
  const known = new Set(newer.map(keyOfConversation));
  return [...newer, ...older.filter((one) => !known.has(keyOfConversation(one)))];
}

/** Its name, or how it began. */
export function titleOfConversation({ name, words }: AdminConversation): string {
  return name ?? (words === '' ? '(no text)' : plainWords(words));
}
