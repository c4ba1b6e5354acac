import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { AdminConversation } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { commits } from '../ops/watch.ts';
import { Ago, Problem, StateBadge } from '../ui/basic.tsx';

const PAGE = 50;

/** The conversations of the node that are loaded, newest first. Undefined until the first are. */
export const conversations = signal<readonly AdminConversation[] | undefined>(undefined);
const problem = signal('');
let next = '';

/** Reads the newest conversations again. Those that were loaded before stay. */
export async function refreshConversations(): Promise<void> {
  try {
    const page = await admin.conversations(new URLSearchParams({ pageSize: String(PAGE) }));
    const isFirst = conversations.value === undefined;
    // When all fit on one page, a missing one was deleted.
    conversations.value = page.nextPageToken === '' ? page.conversations : joined(page.conversations, conversations.value ?? []);
    if (isFirst) next = page.nextPageToken;
    problem.value = '';
  } catch (thrown) {
    problem.value = wordsFor(thrown);
  }
}

async function loadMore(): Promise<void> {
  try {
    const page = await admin.conversations(new URLSearchParams({ pageSize: String(PAGE), pageToken: next }));
    conversations.value = joined(conversations.value ?? [], page.conversations);
    next = page.nextPageToken;
  } catch (thrown) {
    problem.value = wordsFor(thrown);
  }
}

function nameOf({ tenant, principal, contextId }: AdminConversation): string {
  return `${tenant ?? ''}\n${principal}\n${contextId}`;
}

/** The newer list counts: an older page may have a conversation again, with an older state. */
function joined(newer: readonly AdminConversation[], older: readonly AdminConversation[]): readonly AdminConversation[] {
  const known = new Set(newer.map(nameOf));
  return [...newer, ...older.filter((one) => !known.has(nameOf(one)))];
}

/** The page of a conversation. */
export function placeOfConversation({ agent, contextId }: Pick<AdminConversation, 'agent' | 'contextId'>): string {
  return `/chat/${encodeURIComponent(agent)}?with=${encodeURIComponent(contextId)}`;
}

function fits({ words, agent, principal, contextId }: AdminConversation, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return text === '' || [words, agent, principal, contextId].some((each) => each.toLowerCase().includes(text));
}

/** All conversations of the node, from its log. */
export function ConversationList({ current }: { readonly current: string }) {
  const [wanted, setWanted] = useState('');
  const seen = commits.value;
  useEffect(() => void refreshConversations(), [seen]);
  const all = conversations.value ?? [];
  const shown = all.filter((one) => fits(one, wanted));
  return (
    <aside class="conversations" aria-label="Conversations">
      <div class="conversations-head">
        <a class="button primary" href="/console/chat">
          New conversation
        </a>
        <input
          type="search"
          aria-label="Search conversations"
          placeholder="Search words, agent, caller"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      </div>
      <Problem text={problem.value} onAgain={() => void refreshConversations()} />
      {conversations.value !== undefined && shown.length === 0 ? (
        <p class="dim conversations-none">{wanted === '' ? 'No conversations yet.' : 'No conversation matches.'}</p>
      ) : null}
      <ul aria-label="All conversations">
        {shown.map((one) => (
          <li key={nameOf(one)}>
            <ConversationLink conversation={one} isCurrent={one.contextId === current} />
          </li>
        ))}
      </ul>
      {next === '' || conversations.value === undefined ? null : (
        <button type="button" class="quiet" onClick={() => void loadMore()}>
          Show older ones
        </button>
      )}
    </aside>
  );
}

interface ConversationLinkProps {
  readonly conversation: AdminConversation;
  readonly isCurrent?: boolean;
}

/** One conversation: how it began, with whom, when, and how it stands. */
export function ConversationLink({ conversation, isCurrent = false }: ConversationLinkProps) {
  const { words, agent, statusAt, state, tasks } = conversation;
  return (
    <a
      class="conversation"
      href={`/console${placeOfConversation(conversation)}`}
      {...(isCurrent ? { 'aria-current': 'page' as const } : {})}
    >
      <span class="conversation-words">{words === '' ? '(no text)' : words}</span>
      <span class="conversation-about">
        <span>{agent}</span>
        {tasks > 1 ? <span>{tasks} tasks</span> : null}
        <Ago at={statusAt} />
        {state === 'TASK_STATE_COMPLETED' ? null : <StateBadge state={state} />}
      </span>
    </a>
  );
}
