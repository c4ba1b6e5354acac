import { useEffect } from 'preact/hooks';
import type { ChatTarget } from '../agents/known.ts';
import { agents, agentsProblem, loadAgents, targetNamed, titleOf } from '../agents/known.ts';
import { RemoteForm } from '../agents/remote-form.tsx';
import { chatWith, mesh, refreshMesh } from '../mesh/state.ts';
import { go, path, query } from '../route.ts';
import { Empty, Problem } from '../ui/basic.tsx';
import { Composer } from './composer.tsx';
import type { ChatSession } from './store.ts';
import { chats, openChat } from './store.ts';
import { besideIn, Tabs } from './tabs.tsx';
import { Transcript } from './transcript.tsx';

/**
 * `/chat`: choose an agent. `/chat/demo`: a chat with that agent.
 * `/chat/demo?with=demo-2&beside=echo-1`: one of several chats, with another beside it.
 */
export function ChatPage() {
  const name = path.value === '/chat' ? '' : decodeURIComponent(path.value.slice('/chat/'.length));
  const wanted = query.value.get('with');
  const open = chats.value.find((chat) => chat.id === wanted) ?? chats.value.find((chat) => name !== '' && titleOf(chat.target) === name);
  const beside = open === undefined ? [] : besideIn(query.value, open);
  const isKnown = name.startsWith('mesh:') || (agents.value?.some((agent) => agent.name === name) ?? false);
  if (open === undefined && name !== '' && isKnown) {
    queueMicrotask(() => begin(targetNamed(name)));
    return null;
  }
  if (name !== '' && open === undefined && agents.value !== undefined) {
    return (
      <Empty title={`There is no agent ${name} here`}>
        <p>
          <a href="/console/chat">Choose another</a>, or give its address.
        </p>
      </Empty>
    );
  }
  return (
    <div class="chat">
      <Tabs current={open} beside={beside} />
      {open === undefined ? (
        <Choose />
      ) : (
        <div class="chat-columns">
          {[open, ...beside].map((chat) => (
            <ChatColumn key={chat.id} chat={chat} isAlone={beside.length === 0} />
          ))}
        </div>
      )}
    </div>
  );
}

function ChatColumn({ chat, isAlone }: { readonly chat: ChatSession; readonly isAlone: boolean }) {
  return (
    <section class="chat-body" aria-label={`Chat ${chat.id}`}>
      {isAlone ? null : <h2>{chat.id}</h2>}
      {(chat.entries.value ?? []).length === 0 ? <Hints target={chat.target} /> : <Transcript chat={chat} />}
      <Composer chat={chat} />
    </section>
  );
}

function begin(target: ChatTarget): void {
  const chat = openChat(target);
  go(`/chat/${encodeURIComponent(titleOf(target))}?with=${encodeURIComponent(chat.id)}`, { replace: true });
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

/** Agents of other nodes on the mesh. Nothing if there are none. */
function OnMesh() {
  useEffect(() => void refreshMesh(), []);
  const others = (mesh.value?.peers ?? []).filter(({ kind, isOurs }) => kind === 'agent' && !isOurs);
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
        if (address !== undefined) begin(address);
      }}
    />
  );
}

const DEMO_WORDS = ['help', 'stream', 'approve', 'file', 'data', 'slow'];

/** Shown in an empty chat: what the agent does and what to try. */
function Hints({ target }: { readonly target: ChatTarget }) {
  const agent = agents.value?.find(({ name }) => name === target.name);
  return (
    <div class="hints">
      <h1>{agent?.title ?? titleOf(target)}</h1>
      <p class="dim">{agent?.description ?? (target.mesh === undefined ? target.url : 'On this node’s mesh.')}</p>
      {target.name === 'demo' ? (
        <p>
          Try:{' '}
          {DEMO_WORDS.map((word) => (
            <code key={word}>{word}</code>
          ))}{' '}
          or take <a href="/console/tour">the tour</a>.
        </p>
      ) : null}
    </div>
  );
}
