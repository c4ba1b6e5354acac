import { titleOf } from '../agents/known.ts';
import { go } from '../route.ts';
import type { ChatSession } from './store.ts';
import { chatKey, chatLabel, chats, closeChat } from './store.ts';

/** More columns would be too narrow to read. */
const BESIDE_MAX = 3;

/** What the address names beside the first chat. */
export function idsBeside(query: URLSearchParams): readonly string[] {
  return (query.get('beside') ?? '')
    .split(',')
    .filter((id) => id !== '')
    .slice(0, BESIDE_MAX);
}

/** The chats beside the first one, as named in the address. */
export function besideIn(query: URLSearchParams, first: ChatSession): readonly ChatSession[] {
  return idsBeside(query).flatMap((id) => chats.value.find((chat) => (chat.id === id || chatKey(chat) === id) && chat !== first) ?? []);
}

/** The address of a chat, with others beside it. */
export function addressOf(chat: ChatSession, beside: readonly ChatSession[]): string {
  const others = beside.filter((other) => other !== chat).map(chatKey);
  const query = new URLSearchParams({ with: chatKey(chat), ...(others.length === 0 ? {} : { beside: others.join(',') }) });
  return `/chat/${encodeURIComponent(titleOf(chat.target))}?${query}`;
}

interface TabsProps {
  readonly current: ChatSession | undefined;
  readonly beside: readonly ChatSession[];
}

/** The open chats. Two or more can be shown side by side. */
export function Tabs({ current, beside }: TabsProps) {
  if (chats.value.length < 2 && (current !== undefined || chats.value.length === 0)) return null;
  return (
    <nav class="tabs" aria-label="Open chats">
      {chats.value.map((chat) => (
        <Tab key={chat.id} chat={chat} current={current} beside={beside} />
      ))}
      <a class="tab new" href="/console/chat">
        + New chat
      </a>
    </nav>
  );
}

/** One open chat. Closing it shows the next one. */
function Tab({ chat, current, beside }: TabsProps & { readonly chat: ChatSession }) {
  const isCurrent = chat === current;
  const isBeside = beside.includes(chat);
  const close = (): void => {
    closeChat(chat);
    const [next, ...rest] = [...(current === undefined || isCurrent ? [] : [current]), ...beside].filter((other) => other !== chat);
    if (isCurrent || isBeside) go(next === undefined ? '/chat' : addressOf(next, rest));
  };
  return (
    <span class={isCurrent ? 'tab on' : isBeside ? 'tab beside' : 'tab'}>
      <a href={`/console${addressOf(chat, isBeside ? [] : beside)}`} {...(isCurrent ? { 'aria-current': 'page' } : {})}>
        {chat.isBusy.value === true ? <i class="dot live" /> : <i class="dot" />}
        {chatLabel(chat)}
      </a>
      {current === undefined || isCurrent ? null : (
        <button
          type="button"
          class="aside"
          aria-pressed={isBeside}
          aria-label={`Show ${chatLabel(chat)} beside`}
          title="Side by side"
          onClick={() => go(addressOf(current, isBeside ? beside.filter((other) => other !== chat) : [...beside, chat]))}
        >
          ◫
        </button>
      )}
      <button type="button" aria-label={`Close ${chatLabel(chat)}`} onClick={close}>
        ×
      </button>
    </span>
  );
}
