import { useEffect } from 'preact/hooks';
import { createTextPart, isTerminal } from '#protocol';
import { agents } from '../agents/known.ts';
import { go } from '../route.ts';
import { Copy } from '../ui/basic.tsx';
import { Choice, Menu } from '../ui/menu.tsx';
import { Parts } from '../ui/parts.tsx';
import { Answer } from './answer.tsx';
import { useBottom } from './follow-bottom.ts';
import type { ChatEntry, ChatSession, UserEntry } from './store.ts';
import { chatKey, choose, openChat, sayIn } from './store.ts';
import { textOf } from './turn.ts';
import { TurnSurfaces } from './turn-surfaces.tsx';

/** The conversation. It follows the answer unless the reader has scrolled up. */
export function Transcript({ chat }: { readonly chat: ChatSession }) {
  const entries = chat.entries.value ?? [];
  const { box, content, isFollowing, toBottom } = useBottom();
  useEffect(toBottom, [entries.length]);
  // The button that was used is gone, and the focus with it. On a touch screen the focus would open a keyboard.
  const toComposer = (): void => {
    if (!matchMedia('(pointer: coarse)').matches)
      box.current?.closest('.chat-body')?.querySelector<HTMLTextAreaElement>('.composer-row textarea')?.focus();
  };
  return (
    <div class="transcript-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div ref={box} class="transcript" role="log" tabIndex={0} aria-label={`Conversation with ${chat.title.value}`}>
        <div ref={content} class="transcript-in">
          {entries.map((entry, at) => (
            <Entry key={at} chat={chat} entry={entry} at={at} isLast={at === entries.length - 1} onAnswered={toComposer} />
          ))}
        </div>
      </div>
      {isFollowing ? null : (
        <button type="button" class="to-bottom" onClick={toBottom}>
          ↓ To the newest
        </button>
      )}
    </div>
  );
}

interface EntryProps {
  readonly chat: ChatSession;
  readonly entry: ChatEntry;
  readonly at: number;
  readonly isLast: boolean;
  /** The user has chosen an answer. */
  readonly onAnswered: () => void;
}

function Entry({ chat, entry, at, isLast, onAnswered }: EntryProps) {
  if (entry.by === 'user') return <Said chat={chat} said={entry} />;
  void entry.turn.version.value;
  const before = chat.entries.value?.[at - 1];
  const isEnded = entry.turn.state === undefined || isTerminal(entry.turn.state);
  const again = isLast && isEnded && before?.by === 'user' && before.chosen === undefined ? before : undefined;
  const text = textOf(entry.turn);
  return (
    <Answer
      title={chat.title.value ?? 'agent'}
      turn={entry.turn}
      isLast={isLast}
      surfaces={<TurnSurfaces chat={chat} turn={entry.turn} />}
      onChoose={(optionId) => {
        void choose(chat, optionId);
        onAnswered();
      }}
    >
      {text === '' ? null : <Copy label="Copy" text={text} />}
      {again === undefined ? null : (
        <button
          type="button"
          class="small"
          onClick={() => void sayIn(chat, again.parts, again.skill === undefined ? {} : { skill: again.skill })}
        >
          Retry
        </button>
      )}
    </Answer>
  );
}

/** A message of the user, and what can be done with it again. */
function Said({ chat, said }: { readonly chat: ChatSession; readonly said: UserEntry }) {
  const text = said.parts.map((part) => part.text ?? '').join('');
  return (
    <div class="said-row">
      <article class="said by-user" aria-label="You">
        {said.skill === undefined ? null : <p class="said-skill">Skill: {said.skill}</p>}
        {said.chosen === undefined ? <Parts parts={said.parts} /> : <p class="chose">{said.chosen}</p>}
      </article>
      {said.chosen !== undefined ? null : (
        <div class="said-actions">
          {text === '' ? null : (
            <>
              <Copy label="Copy" text={text} />
              <button
                type="button"
                class="small"
                onClick={() => {
                  chat.draft.value = text;
                }}
              >
                Edit
              </button>
            </>
          )}
          <ToAnother chat={chat} said={said} />
        </div>
      )}
    </div>
  );
}

/** Sends the same message to another agent, in a conversation of its own. */
function ToAnother({ chat, said }: { readonly chat: ChatSession; readonly said: UserEntry }) {
  const others = (agents.value ?? []).filter(({ name }) => name !== chat.target.name);
  if (others.length === 0) return null;
  const branchTo = (name: string): void => {
    const branch = openChat({ name });
    void sayIn(branch, said.parts.length === 0 ? [createTextPart('')] : said.parts);
    go(`/chat/${encodeURIComponent(name)}?with=${encodeURIComponent(chatKey(branch))}`);
  };
  return (
    <Menu label="Send to" name="Send to another agent">
      {others.map(({ name }) => (
        <Choice key={name} onChoose={() => branchTo(name)}>
          {name}
        </Choice>
      ))}
    </Menu>
  );
}
