import { useState } from 'preact/hooks';
import type { AdminApproval, JsonObject } from '#protocol';
import { getTextFromMessage, isDataPart } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { placeOfConversation } from '../chat/conversations.tsx';
import { taskWords } from '../tasks/words.ts';
import { Ago, Problem, say } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { refreshApprovals } from './watch.ts';
import './ops.css';

/** What is asked for, to follow "demo asks local". */
function wishOf({ kind, choices }: AdminApproval, data: JsonObject | undefined): string {
  if (kind === 'auth') return 'for a credential';
  if (typeof data?.['tool'] === 'string') return `to allow ${data['tool']}`;
  return choices.length === 0 ? 'for an answer' : 'to decide';
}

/** The options are buttons below. */
function withoutOptions(details: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(details).filter(([name]) => name !== 'options'));
}

interface ApprovalProps {
  readonly approval: AdminApproval;
  readonly isWanted?: boolean;
  /** The page is about this task, and shows its request itself. */
  readonly isOnTask?: boolean;
}

/** A question that waits for an answer. Operators may answer for the caller. */
export function Approval({ approval, isWanted = false, isOnTask = false }: ApprovalProps) {
  const [problem, setProblem] = useState('');
  const { id, agent, principal, question, choices, statusAt } = approval;
  const answer = async (given: Parameters<typeof admin.answer>[1]): Promise<void> => {
    try {
      await admin.answer(id, given);
      say('Answered.');
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
    await refreshApprovals().catch(() => undefined); // the next poll tries again
  };
  const words = question === undefined ? '' : getTextFromMessage(question);
  const data = question?.parts.find(isDataPart)?.data;
  const details = typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject) : undefined;
  const request = taskWords.value.get(id)?.text ?? '';
  return (
    <article class={isWanted ? 'panel approval wanted' : 'panel approval'} aria-label={`${agent} asks`} tabIndex={-1}>
      <p class="spread">
        <span>
          <strong>{agent}</strong> asks <strong>{principal}</strong> {wishOf(approval, details)}
        </span>
        <span class="dim">
          asked <Ago at={statusAt} />
        </span>
      </p>
      {isOnTask || request === '' ? null : (
        <p class="dim">
          The request: <a href={`/console${placeOfConversation(approval)}`}>{request}</a> ·{' '}
          <a href={`/console/tasks/${encodeURIComponent(id)}`}>task</a>
        </p>
      )}
      <Markdown text={words === '' ? 'The agent waits for input and does not say which.' : words} />
      {details !== undefined && 'tool' in details ? (
        <div class="tree-box">
          <JsonTree value={withoutOptions(details)} open={3} />
        </div>
      ) : null}
      <Problem text={problem} />
      <div class="row">
        {choices.map(({ optionId, name, kind: meaning }, at) => (
          <button
            key={optionId}
            type="button"
            data-option={optionId}
            {...(isOnTask || at > 8 ? {} : { 'data-key': at + 1 })}
            class={meaning?.startsWith('allow') ? 'primary' : meaning === undefined ? '' : 'danger'}
            onClick={() => void answer({ optionId })}
          >
            {name}
          </button>
        ))}
        <FreeAnswer agent={agent} onAnswer={(text) => void answer({ text })} />
      </div>
    </article>
  );
}

function FreeAnswer({ agent, onAnswer }: { readonly agent: string; readonly onAnswer: (text: string) => void }) {
  const [text, setText] = useState('');
  return (
    <form
      class="row grow"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== '') onAnswer(text);
      }}
    >
      <input
        type="text"
        aria-label={`Answer ${agent} with text`}
        placeholder="Type an answer"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Answer</button>
    </form>
  );
}
