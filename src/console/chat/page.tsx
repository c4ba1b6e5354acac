import { useState } from 'preact/hooks';
import type { Target } from '../agents/known.ts';
import { agents, agentsProblem, loadAgents, titleOf } from '../agents/known.ts';
import { go, path, query } from '../route.ts';
import { Empty, Problem } from '../ui/basic.tsx';
import { Composer } from './composer.tsx';
import { chats, closeChat, openChat } from './store.ts';
import { Transcript } from './transcript.tsx';

/** `/chat`: whom to talk to. `/chat/demo`: a chat with that agent. `/chat/demo?with=demo-2`: that one of several. */
export function ChatPage() {
  const name = path.value === '/chat' ? '' : decodeURIComponent(path.value.slice('/chat/'.length));
  const wanted = query.value.get('with');
  const open = chats.value.find((chat) => chat.id === wanted) ?? chats.value.find((chat) => name !== '' && titleOf(chat.target) === name);
  const isKnown = agents.value?.some((agent) => agent.name === name) ?? false;
  if (open === undefined && name !== '' && isKnown) {
    queueMicrotask(() => begin({ name }));
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
      <Tabs current={open?.id} />
      {open === undefined ? (
        <Choose />
      ) : (
        <section class="chat-body" key={open.id}>
          {(open.entries.value ?? []).length === 0 ? <Hints target={open.target} /> : <Transcript chat={open} />}
          <Composer chat={open} />
        </section>
      )}
    </div>
  );
}

function begin(target: Target): void {
  const chat = openChat(target);
  go(`/chat/${encodeURIComponent(titleOf(target))}?with=${encodeURIComponent(chat.id)}`, { replace: true });
}

function Tabs({ current }: { readonly current: string | undefined }) {
  if (chats.value.length === 0) return null;
  return (
    <nav class="tabs" aria-label="Open chats">
      {chats.value.map((chat) => (
        <span key={chat.id} class={chat.id === current ? 'tab on' : 'tab'}>
          <a
            href={`/console/chat/${encodeURIComponent(titleOf(chat.target))}?with=${encodeURIComponent(chat.id)}`}
            {...(chat.id === current ? { 'aria-current': 'page' } : {})}
          >
            {chat.isBusy.value === true ? <i class="dot live" /> : <i class="dot" />}
            {chat.id}
          </a>
          <button
            type="button"
            aria-label={`Close ${chat.id}`}
            onClick={() => {
              closeChat(chat);
              if (chat.id === current) go('/chat');
            }}
          >
            ×
          </button>
        </span>
      ))}
      <a class="tab new" href="/console/chat">
        + New chat
      </a>
    </nav>
  );
}

function Choose() {
  return (
    <div class="choose">
      <h1>Whom do you want to talk to?</h1>
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
      <Elsewhere />
    </div>
  );
}

/** The address is typed here and never taken from a link, so nobody can make this page send a credential anywhere. */
function Elsewhere() {
  const [url, setUrl] = useState('');
  const [bearer, setBearer] = useState('');
  const [problem, setProblem] = useState('');
  return (
    <form
      class="panel elsewhere"
      onSubmit={(event) => {
        event.preventDefault();
        if (!URL.canParse(url) || !/^https?:/.test(url)) setProblem('An address begins with http:// or https://, as https://agent.example');
        else begin(bearer === '' ? { url } : { url, bearer });
      }}
    >
      <h2>An agent elsewhere</h2>
      <p class="dim">Any A2A agent, of any version. This node calls it for you.</p>
      <Problem text={problem} />
      <label>
        Address
        <input type="url" value={url} placeholder="https://agent.example" onInput={(event) => setUrl(event.currentTarget.value)} />
      </label>
      <label>
        Token, if it asks for one
        <input type="password" autocomplete="off" value={bearer} onInput={(event) => setBearer(event.currentTarget.value)} />
      </label>
      <button type="submit" class="primary">
        Connect
      </button>
    </form>
  );
}

const DEMO_WORDS = ['help', 'stream', 'approve', 'file', 'data', 'slow'];

function Hints({ target }: { readonly target: Target }) {
  const agent = agents.value?.find(({ name }) => name === target.name);
  return (
    <div class="hints">
      <h1>{agent?.title ?? titleOf(target)}</h1>
      <p class="dim">{agent?.description ?? target.url}</p>
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
