import { useEffect, useRef, useState } from 'preact/hooks';
import { say, sized } from '../ui/basic.tsx';
import type { ChatSession } from './store.ts';
import { cancelIn, lastTurn, partsFrom, sayIn } from './store.ts';

const FILE_BYTES_MAX = 700_000;

/**
 * Enter sends, Shift+Enter adds a line, Escape stops the task. Files are added by button, drop or
 * paste.
 */
export function Composer({ chat }: { readonly chat: ChatSession }) {
  const [text, setText] = useState('');
  const [files, setFiles] = useState<readonly File[]>([]);
  const box = useRef<HTMLTextAreaElement>(null);
  const turn = lastTurn(chat);
  // Read here so that the buttons update when the agent asks.
  void turn?.version.value;
  const isAsked = turn?.question !== undefined;
  const isBusy = chat.isBusy.value === true && !isAsked;
  useEffect(() => focusQuietly(box.current), []);
  useDraft(chat, (draft) => {
    setText(draft);
    box.current?.focus();
  });
  const add = (more: readonly File[]): void => {
    setFiles([...files, ...smallOf(more)]);
  };
  const submit = async (): Promise<void> => {
    if (isBusy || (text.trim() === '' && files.length === 0)) return;
    const parts = await partsFrom(text, files);
    setText('');
    setFiles([]);
    await sayIn(chat, parts);
    box.current?.focus();
  };
  const stop = (): void => {
    void cancelIn(chat);
    focusQuietly(box.current); // the button goes away with the task, and the focus with it
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && isBusy) void cancelIn(chat);
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        add([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <Attached files={files} onRemove={(gone) => setFiles(files.filter((file) => file !== gone))} />
      <div class="composer-row">
        <Attach onAdd={add} />
        <textarea
          ref={box}
          value={text}
          rows={Math.min(8, text.split('\n').length)}
          aria-label={`Message to ${chat.title.value}`}
          placeholder={isAsked ? 'Type an answer …' : 'Type a message …'}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKey}
          onPaste={(event) => {
            const pasted = [...(event.clipboardData?.files ?? [])];
            if (pasted.length > 0) add(pasted);
          }}
        />
        <Buttons canStop={isBusy || isAsked} canSend={!isBusy} onStop={stop} />
      </div>
    </form>
  );
}

/** On a touch screen the focus would open a keyboard that hides the conversation. */
function focusQuietly(box: HTMLTextAreaElement | null): void {
  if (!matchMedia('(pointer: coarse)').matches) box?.focus();
}

/** Takes over a text that was sent before, to be edited. */
function useDraft(chat: ChatSession, take: (draft: string) => void): void {
  const draft = chat.draft.value ?? '';
  useEffect(() => {
    if (draft === '') return;
    chat.draft.value = '';
    take(draft);
  }, [draft]);
}

interface ButtonsProps {
  readonly canStop: boolean;
  readonly canSend: boolean;
  readonly onStop: () => void;
}

function Buttons({ canStop, canSend, onStop }: ButtonsProps) {
  return (
    <>
      {canStop ? (
        <button type="button" class="danger" onClick={onStop}>
          Stop
        </button>
      ) : null}
      {canSend ? (
        <button type="submit" class="primary">
          Send
        </button>
      ) : null}
    </>
  );
}

function smallOf(files: readonly File[]): readonly File[] {
  const small = files.filter((file) => file.size <= FILE_BYTES_MAX);
  if (small.length < files.length) {
    say(`The maximum file size is ${sized(FILE_BYTES_MAX)}, because requests are limited to 1 MiB. Send larger files by URL.`);
  }
  return small;
}

/** The files that the next message will contain. */
function Attached({ files, onRemove }: { readonly files: readonly File[]; readonly onRemove: (file: File) => void }) {
  if (files.length === 0) return null;
  return (
    <ul class="attached" aria-label="Attached files">
      {files.map((file) => (
        <li key={file.name}>
          {file.name} <span class="dim">{sized(file.size)}</span>
          <button type="button" class="small" aria-label={`Remove ${file.name}`} onClick={() => onRemove(file)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The button that opens the file dialog. */
function Attach({ onAdd }: { readonly onAdd: (files: readonly File[]) => void }) {
  return (
    <label class="attach" title="Attach files">
      <input type="file" multiple aria-label="Attach files" onChange={(event) => onAdd([...(event.currentTarget.files ?? [])])} />
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M13.5 6.5 8 12a1.8 1.8 0 0 0 2.6 2.6l6-6a3.6 3.6 0 0 0-5.1-5.1l-6 6a5.4 5.4 0 0 0 7.6 7.6l4.9-4.9" />
      </svg>
    </label>
  );
}
