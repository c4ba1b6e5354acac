import { useEffect, useRef, useState } from 'preact/hooks';
import type { AdminConversation } from '#protocol';
import { renameConversation, titleOfConversation } from './listed.ts';

const CHARS_MAX = 120;

interface NameEditProps {
  readonly conversation: AdminConversation;
  readonly onDone: () => void;
}

/** The name as a field: Enter or leaving it saves, Escape cancels. */
function NameEdit({ conversation, onDone }: NameEditProps) {
  const field = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  useEffect(() => field.current?.select(), []);
  const end = (name: string | undefined): void => {
    if (isOver.current) return;
    isOver.current = true;
    onDone();
    if (name !== undefined && name.trim() !== (conversation.name ?? '')) void renameConversation(conversation, name);
  };
  return (
    <input
      ref={field}
      class="rename-field"
      aria-label="Name of the conversation"
      title="Enter saves, Escape cancels. Without a name it has its first words."
      maxLength={CHARS_MAX}
      placeholder={conversation.words}
      defaultValue={conversation.name ?? ''}
      onBlur={(event) => end(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') end(event.currentTarget.value);
        if (event.key === 'Escape') end(undefined);
        event.stopPropagation();
      }}
    />
  );
}

/** Whether the name of a conversation is being edited, and the parts that do it. F2 begins where the focus is. */
export function useRename(conversation: AdminConversation) {
  const [isRenaming, setRenaming] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const wasRenaming = useRef(false);
  useEffect(() => {
    if (wasRenaming.current && !isRenaming && document.activeElement === document.body) button.current?.focus();
    wasRenaming.current = isRenaming;
  }, [isRenaming]);
  return {
    onKeyDown: (event: KeyboardEvent): void => {
      if (event.key === 'F2') setRenaming(true);
    },
    field: isRenaming ? <NameEdit conversation={conversation} onDone={() => setRenaming(false)} /> : undefined,
    button: isRenaming ? null : (
      <button
        type="button"
        ref={button}
        class="rename"
        title="Rename (F2)"
        aria-label={`Rename ${titleOfConversation(conversation)}`}
        onClick={() => setRenaming(true)}
      >
        ✎
      </button>
    ),
  };
}
