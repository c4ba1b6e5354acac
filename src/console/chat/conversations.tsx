import { useEffect, useState } from 'preact/hooks';
import type { AdminConversation } from '#protocol';
import { commits } from '../ops/watch.ts';
import { Ago, Problem, StateBadge } from '../ui/basic.tsx';
import {
  conversations,
  conversationsProblem,
  hasOlder,
  keyOfConversation,
  loadNamed,
  loadOlder,
  refreshConversations,
  titleOfConversation,
} from './listed.ts';
import { useRename } from './rename.tsx';

/** A search in the names of all conversations waits for a pause in typing. */
const PAUSE_MS = 200;

/** The page of a conversation. */
export function placeOfConversation({ agent, contextId }: Pick<AdminConversation, 'agent' | 'contextId'>): string {
  return `/chat/${encodeURIComponent(agent)}?with=${encodeURIComponent(contextId)}`;
}

function fits({ name = '', words, agent, principal, contextId }: AdminConversation, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return text === '' || [name, words, agent, principal, contextId].some((each) => each.toLowerCase().includes(text));
}

/** On a narrow screen the agents to choose from are below the list. */
function showAgents(): void {
  document.querySelector('.choose')?.scrollIntoView();
}

/** All conversations of the node, from its log. */
export function ConversationList({ current }: { readonly current: string }) {
  const [wanted, setWanted] = useState('');
  const seen = commits.value;
  useEffect(() => void refreshConversations(), [seen]);
  useEffect(() => {
    if (wanted.trim() === '') return;
    // A named one may be older than those that are loaded. Without an answer the loaded ones are searched.
    const timer = setTimeout(() => void loadNamed(wanted.trim()).catch(() => undefined), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const all = conversations.value ?? [];
  const shown = all.filter((one) => fits(one, wanted));
  return (
    <aside class={conversations.value?.length === 0 ? 'conversations none' : 'conversations'} aria-label="Conversations">
      <div class="conversations-head">
        <a class="button primary" href="/console/chat" onClick={showAgents}>
          New conversation
        </a>
        <input
          type="search"
          aria-label="Search conversations"
          placeholder="Search conversations"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      </div>
      <Problem text={conversationsProblem.value} onAgain={() => void refreshConversations()} />
      {conversations.value !== undefined && shown.length === 0 ? (
        <p class="dim conversations-none">
          {wanted === '' ? (
            'No conversations yet. Choose an agent to start one.'
          ) : (
            <>
              No conversation begins like this. <a href={`/console/tasks?q=${encodeURIComponent(wanted)}`}>Search the texts of all tasks</a>
            </>
          )}
        </p>
      ) : null}
      <ul aria-label="All conversations">
        {shown.map((one) => (
          <ConversationItem key={keyOfConversation(one)} conversation={one} isCurrent={one.contextId === current} />
        ))}
      </ul>
      {hasOlder() ? (
        <button type="button" class="quiet" onClick={() => void loadOlder()}>
          Show older ones
        </button>
      ) : null}
    </aside>
  );
}

/** A conversation in the list, which can be renamed in place. */
function ConversationItem({ conversation, isCurrent }: { readonly conversation: AdminConversation; readonly isCurrent: boolean }) {
  const { field, button, onKeyDown } = useRename(conversation);
  return (
    <li class="conversation-item" onKeyDown={onKeyDown}>
      {field ?? <ConversationLink conversation={conversation} isCurrent={isCurrent} />}
      {button}
    </li>
  );
}

interface ConversationLinkProps {
  readonly conversation: AdminConversation;
  readonly isCurrent?: boolean;
}

/** One conversation: how it began, with whom, when, and how it stands. */
export function ConversationLink({ conversation, isCurrent = false }: ConversationLinkProps) {
  const { name, words, agent, statusAt, state, tasks } = conversation;
  return (
    <a
      class="conversation"
      href={`/console${placeOfConversation(conversation)}`}
      {...(isCurrent ? { 'aria-current': 'page' as const } : {})}
    >
      <span class="conversation-words">{titleOfConversation(conversation)}</span>
      {name === undefined ? null : <span class="conversation-began">{words}</span>}
      <span class="conversation-about">
        <span>{agent}</span>
        {tasks > 1 ? <span>{tasks} tasks</span> : null}
        <Ago at={statusAt} />
        {state === 'TASK_STATE_COMPLETED' ? null : <StateBadge state={state} />}
      </span>
    </a>
  );
}
