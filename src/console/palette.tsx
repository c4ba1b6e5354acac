import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { agents } from './agents/known.ts';
import { placeOfConversation } from './chat/conversations.tsx';
import { conversations, refreshConversations, titleOfConversation } from './chat/listed.ts';
import { menu } from './menu.ts';
import { NAV } from './nav.ts';
import { go } from './route.ts';
import { isTyping } from './ui/keys.ts';

const isOpen = signal<'no' | 'find' | 'keys'>('no');
const SEQUENCE_MS = 1200;

let goingSince = 0;

/** `g` and a letter opens a page, Ctrl+K or `/` searches, `?` shows the keys. */
function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
      if (hasModifier && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        isOpen.value = 'find';
      } else if (event.key === 'Escape') isOpen.value = 'no';
      else if (!hasModifier && !isTyping(event.target)) press(event);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Keys without a modifier: `?`, `/`, and `g` followed by a letter. */
function press(event: KeyboardEvent): void {
  if (event.key === '?') isOpen.value = 'keys';
  else if (event.key === '/') {
    event.preventDefault();
    const search = document.querySelector<HTMLInputElement>('input[type=search]');
    if (search === null) isOpen.value = 'find';
    else search.focus();
  } else if (event.key === 'g') goingSince = performance.now();
  else if (performance.now() - goingSince < SEQUENCE_MS) {
    const found = NAV.find(([, , , key]) => key === event.key);
    if (found !== undefined) go(found[0]);
    goingSince = 0;
  }
}

interface Place {
  readonly label: string;
  readonly to: string;
}

const PLACES_MAX = 12;

/** Pages, agents and conversations that match the text, a task if the text looks like an id, and the search in all tasks. */
function placesFor(text: string): readonly Place[] {
  const given = text.trim();
  const wanted = given.toLowerCase();
  const all: readonly Place[] = [
    ...menu.value.map(([to, label]) => ({ label, to })),
    ...(agents.value ?? []).flatMap(({ name }) => [
      { label: `Chat with ${name}`, to: `/chat/${name}` },
      { label: `Agent ${name}`, to: `/agents/${name}` },
    ]),
    ...(given === '' ? [] : (conversations.value ?? [])).map((one) => ({
      label: `Conversation with ${one.agent}: ${titleOfConversation(one)}`,
      to: placeOfConversation(one),
    })),
  ];
  const found = all.filter(({ label }) => label.toLowerCase().includes(wanted)).slice(0, PLACES_MAX);
  if (given === '') return found;
  const id = /^(?=.*\d)[\w-]{8,}$/.test(given) ? [{ label: `Task ${given}`, to: `/tasks/${given}` }] : [];
  return [...found, ...id, { label: `Search all tasks for “${given}”`, to: `/tasks?q=${encodeURIComponent(given)}` }];
}

/** The dialog of Ctrl-K and `?`. It opens before the next key: what is typed right after Ctrl-K belongs into it. */
export function Palette() {
  useKeys();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const mode = isOpen.value;
  useLayoutEffect(() => {
    setText('');
    setAt(0);
    if (mode === 'no') dialog.current?.close();
    else if (dialog.current?.open === false) dialog.current.showModal();
    if (mode === 'find' && conversations.value === undefined) void refreshConversations();
  }, [mode]);
  const places = placesFor(text);
  const choose = (place: Place | undefined): void => {
    isOpen.value = 'no';
    if (place !== undefined) go(place.to);
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label={mode === 'keys' ? 'Keys' : 'Go to'}
      onClose={(event) => {
        // The browser reports the end of a dialog later. It may be open again.
        if (!event.currentTarget.open) isOpen.value = 'no';
      }}
    >
      {mode === 'find' ? (
        <>
          <input
            type="text"
            role="combobox"
            aria-expanded="true"
            aria-controls="places"
            aria-activedescendant={`place-${at}`}
            aria-label="Go to a page, an agent, a conversation or a task"
            placeholder="Go to a page, an agent, a conversation, a task …"
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setAt(0);
            }}
            onKeyDown={(event) => {
              if (event.key === 'ArrowDown') setAt(Math.min(at + 1, places.length - 1));
              if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
              if (event.key === 'Enter') choose(places[at]);
            }}
          />
          <Places places={places} at={at} choose={choose} />
        </>
      ) : null}
      {mode === 'keys' ? <Keys /> : null}
    </dialog>
  );
}

/** What was found. The field above it keeps the focus. */
function Places({
  places,
  at,
  choose,
}: {
  readonly places: readonly Place[];
  readonly at: number;
  readonly choose: (place: Place) => void;
}) {
  return (
    <div id="places" class="places" role="listbox" aria-label="Places">
      {places.map((place, index) => (
        <div
          key={place.to}
          id={`place-${index}`}
          role="option"
          aria-selected={index === at}
          tabIndex={-1}
          onClick={() => choose(place)}
          onKeyDown={() => choose(place)}
        >
          {place.label}
        </div>
      ))}
    </div>
  );
}

/** The list of all keys. */
function Keys() {
  return (
    <div class="keys">
      <h2>Keys</h2>
      <dl>
        <dt>
          <kbd>Ctrl</kbd> <kbd>K</kbd>
        </dt>
        <dd>go to a page, an agent, a conversation, a task</dd>
        {menu.value.map(([to, label, , key]) => [
          <dt key={`${to}k`}>
            <kbd>g</kbd> <kbd>{key}</kbd>
          </dt>,
          <dd key={to}>{label}</dd>,
        ])}
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>search</dd>
        <dt>
          <kbd>j</kbd> <kbd>k</kbd> <kbd>x</kbd>
        </dt>
        <dd>next task or question, previous one, select a task</dd>
        <dt>
          <kbd>1</kbd> … <kbd>9</kbd>
        </dt>
        <dd>answer a question on Approvals</dd>
        <dt>
          <kbd>F2</kbd>
        </dt>
        <dd>rename a conversation</dd>
        <dt>
          <kbd>Enter</kbd>
        </dt>
        <dd>
          send; with <kbd>Shift</kbd> a new line
        </dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>cancel what runs; close</dd>
      </dl>
    </div>
  );
}
