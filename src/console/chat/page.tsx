import { useEffect } from 'preact/hooks';
import type { AdminConversation } from '#protocol';
import type { ChatTarget } from '../agents/known.ts';
import { agents, agentsProblem, loadAgents, targetNamed, titleOf } from '../agents/known.ts';
import { RemoteForm } from '../agents/remote-form.tsx';
import { chatWith, mesh, refreshMesh } from '../mesh/state.ts';
import { go, path, query } from '../route.ts';
import { useSubject } from '../title.ts';
import { Empty, Problem } from '../ui/basic.tsx';
import { Composer } from './composer.tsx';
import { ConversationList } from './conversations.tsx';
import { ChatHead, NewChatHead } from './head.tsx';
import { Hints } from './hints.tsx';
import { conversations, loadContext } from './listed.ts';
import { catchUp, restoreChat } from './restore.ts';
import type { ChatSession } from './store.ts';
import { chatKey, chatLabel, chats, firstWordsIn, openChat } from './store.ts';
import { addressOf, besideIn, idsBeside, Tabs } from './tabs.tsx';
import { Transcript } from './transcript.tsx';
import './chat.css';

/**
 * `/chat`: choose an agent. `/chat/demo`: a new conversation with that agent.
 * `/chat/demo?with=CONTEXT&beside=CONTEXT`: a conversation, with another beside it.
 */
export function ChatPage() {
  const name = path.value === '/chat' ? '' : decodeURIComponent(path.value.slice('/chat/'.length));
  const wanted = query.value.get('with');
  const open = chats.value.find((chat) => chat.id === wanted || chatKey(chat) === wanted);
  useOpened(name, wanted, open);
  useSubject(open === undefined ? '' : chatLabel(open));
  const isKnown = name.startsWith('mesh:') || (agents.value?.some((agent) => agent.name === name) ?? false);
  const beside = open === undefined ? [] : besideIn(query.value, open);
  const isNowhere = name !== '' && open === undefined && !isKnown && agents.value !== undefined && wanted === null;
  return (
    <div class={open === undefined ? 'chat-page' : 'chat-page in-chat'}>
      <ConversationList current={open?.contextId.value ?? ''} />
      <div class="chat">
        <Tabs current={open} beside={beside} />
        {open === undefined ? (
          isNowhere ? (
            <NoAgent name={name} />
          ) : name === '' ? (
            <Choose />
          ) : null
        ) : (
          <div class="chat-columns">
            {[open, ...beside].map((chat) => (
              <ChatColumn key={chat.id} chat={chat} isAlone={beside.length === 0} />
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

/** Opens what the address names: a new chat, or conversations of the log. Then the address names their contexts. */
function useOpened(name: string, wanted: string | null, open: ChatSession | undefined): void {
  const isKnown = name.startsWith('mesh:') || (agents.value?.some((agent) => agent.name === name) ?? false);
  const others = idsBeside(query.value).join();
  useEffect(() => {
    if (name === '') return;
    if (wanted === null && isKnown) return begin(targetNamed(name));
    if (wanted !== null && open === undefined) restoreChat(targetNamed(name), wanted);
    for (const id of idsBeside(query.value)) {
      if (!chats.value.some((chat) => chat.id === id || chatKey(chat) === id)) restoreChat(targetNamed(name), id);
    }
  }, [name, wanted, isKnown, open, others]);
  const key = open === undefined ? '' : [open, ...besideIn(query.value, open)].map(chatKey).join();
  const title = open?.title.value;
  useEffect(() => {
    if (open === undefined) return;
    const address = addressOf(open, besideIn(query.value, open));
    if (`${path.value}?${query.value}` !== address) go(address, { replace: true });
  }, [key, title]);
}

function NoAgent({ name }: { readonly name: string }) {
  return (
    <Empty title={`There is no agent ${name} here`} isPage>
      <p>
        <a href="/console/chat">Choose another</a>, or give its address.
      </p>
    </Empty>
  );
}

/** What the node's list says about the conversation of a chat. It is loaded if it is an old one. */
function useListed(chat: ChatSession): AdminConversation | undefined {
  const context = chat.contextId.value ?? '';
  const known = conversations.value?.find(({ contextId }) => contextId === context);
  const isMissing = known === undefined && conversations.value !== undefined && context !== '' && chat.target.url === undefined;
  useEffect(() => {
    if (isMissing) void loadContext(context).catch(() => undefined); // the chat can do without
  }, [isMissing, context]);
  useEffect(() => {
    if (known !== undefined) void catchUp(chat, known);
  }, [known?.statusAt, chat.isBusy.value]);
  return known;
}

function ChatColumn({ chat, isAlone }: { readonly chat: ChatSession; readonly isAlone: boolean }) {
  const { restored } = chat;
  const known = useListed(chat);
  return (
    <section class="chat-body" aria-label={`Chat ${chatLabel(chat)}`}>
      {known !== undefined ? (
        <ChatHead conversation={known} chat={chat} />
      ) : isAlone ? (
        <NewChatHead agent={chat.title.value ?? ''} words={firstWordsIn(chat)} />
      ) : (
        <h2>{chatLabel(chat)}</h2>
      )}
      {restored.value === undefined ? (
        <p class="loading" role="status">
          Reading the conversation …
        </p>
      ) : (chat.entries.value ?? []).length === 0 ? (
        <Hints chat={chat} />
      ) : (
        <Transcript chat={chat} />
      )}
      <Problem text={restored.value ?? ''} />
      <Composer chat={chat} />
    </section>
  );
}

function begin(target: ChatTarget): void {
  go(addressOf(openChat(target), []), { replace: true });
}

/** Shown without an agent in the address: a list to choose from. */
function Choose() {
  return (
    <div class="choose">
      <h1>Choose an agent</h1>
      <Problem text={agentsProblem.value} onAgain={() => void loadAgents()} />
      <ul class="cards">
        {(agents.value ?? []).map((agent) => (
          <li key={agent.name}>
            <button type="button" class="card" onClick={() => begin({ name: agent.name })}>
              <strong>{agent.title}</strong>
              <span>{agent.description}</span>
            </button>
          </li>
        ))}
      </ul>
      <OnMesh />
      <Elsewhere />
    </div>
  );
}

/** Agents of other nodes on the mesh. Those that a gateway serves are among the agents above. */
function OnMesh() {
  useEffect(() => void refreshMesh(), []);
  const listed = new Set((agents.value ?? []).map(({ name }) => name));
  const others = (mesh.value?.peers ?? []).filter(
    ({ kind, isOurs, name, path: at }) => kind === 'agent' && !isOurs && !(at === `/agents/${name}` && listed.has(name)),
  );
  if (others.length === 0) return null;
  return (
    <section aria-label="Agents of the mesh">
      <h2>On the mesh</h2>
      <ul class="cards">
        {others.map((peer) => (
          <li key={peer.name}>
            <a class="card" href={`/console${chatWith(peer)}`}>
              <strong>{peer.name}</strong>
              <span>{peer.description}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/**
 * The user enters the address. It is never read from a link, so that no link can make this page send a
 * credential.
 */
function Elsewhere() {
  return (
    <RemoteForm
      title="A remote agent"
      note="Any A2A agent, of any version. This node sends the requests."
      button="Connect"
      onAddress={(address) => {
        if (address !== undefined) go(`/chat/${encodeURIComponent(titleOf(address))}?with=${encodeURIComponent(openChat(address).id)}`);
      }}
    />
  );
}
