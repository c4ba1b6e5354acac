import { useEffect, useState } from 'preact/hooks';
import type { AdminAnswered, AdminApproval, JsonObject, Message } from '#protocol';
import { getTextFromMessage, isDataPart } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { placeOfConversation } from '../chat/conversations.tsx';
import { path, rest } from '../route.ts';
import { taskWords, wantWords } from '../tasks/words.ts';
import { Ago, Empty, Problem, say, took } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { moveBy, usePlainKeys } from '../ui/keys.ts';
import { Markdown } from '../ui/markdown.tsx';
import { allowNotifications, approvals, isNotifying, refreshApprovals } from './watch.ts';
import './ops.css';

/** j and k move between questions, and a digit chooses an option of the one in focus, or of the first. */
function press(key: string): void {
  const all = [...document.querySelectorAll<HTMLElement>('.approval')];
  const at = moveBy(key, all);
  if (!/^[1-9]$/.test(key)) return;
  const options = all[Math.max(0, at)]?.querySelectorAll<HTMLElement>('button[data-option]');
  options?.[Number(key) - 1]?.click();
}

/** All questions that wait for a person, of all agents and callers. */
export function ApprovalsPage() {
  const wanted = path.value === '/approvals' ? '' : rest('/approvals');
  const all = approvals.value;
  useEffect(() => wantWords(all.map(({ id }) => id)), [all]);
  usePlainKeys(press);
  const shown = wanted === '' ? all : [...all.filter(({ id }) => id === wanted), ...all.filter(({ id }) => id !== wanted)];
  return (
    <div class="page">
      <div class="spread">
        <h1>Approvals</h1>
        {isNotifying.value || typeof Notification === 'undefined' ? null : (
          <button type="button" onClick={() => void allowNotifications()}>
            Notify me
          </button>
        )}
      </div>
      <p class="lead">
        Questions of agents. An answer here is given on behalf of the caller, and recorded in the audit log. <kbd>j</kbd> and <kbd>k</kbd>{' '}
        move, <kbd>1</kbd> to <kbd>9</kbd> choose.
      </p>
      {shown.length === 0 ? (
        <Empty title="No approvals">
          <p>
            Questions of agents appear here. To try it, send <code>approve</code> <a href="/console/chat/demo">to the demo agent</a>.
          </p>
        </Empty>
      ) : null}
      <ul class="inbox">
        {shown.map((approval) => (
          <li key={`${approval.id} ${approval.last}`}>
            <Approval approval={approval} isWanted={approval.id === wanted} />
          </li>
        ))}
      </ul>
      <History />
    </div>
  );
}

/** Questions that were answered, by their callers or here. */
function History() {
  const [answered, setAnswered] = useState<readonly AdminAnswered[]>([]);
  const open = approvals.value;
  useEffect(() => {
    admin.answered().then(setAnswered, () => undefined); // the page itself says that the node does not answer
  }, [open]);
  if (answered.length === 0) return null;
  return (
    <section aria-label="Answered">
      <h2>Answered</h2>
      <ul class="answered panel">
        {answered.map(({ id, agent, principal, question, answer, askedAt, answeredAt }) => (
          <li key={`${id} ${askedAt}`}>
            <strong>{agent}</strong> asked {principal}:{' '}
            <a href={`/console/tasks/${encodeURIComponent(id)}`}>{question === undefined ? 'a question' : lineOf(question)}</a>{' '}
            <span class="answer">{lineOf(answer)}</span>
            <span class="dim">
              <Ago at={answeredAt} />, after {took(Date.parse(answeredAt) - Date.parse(askedAt))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const LINE_CHARS = 160;

/** A message on one line: its text, or the option that it chose. */
function lineOf(message: Message): string {
  const data = message.parts.find(isDataPart)?.data;
  const option = typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject)['optionId'] : undefined;
  const text = getTextFromMessage(message).replaceAll(/\s+/g, ' ').trim();
  const words = text === '' && typeof option === 'string' ? option : text;
  return words.length > LINE_CHARS ? `${words.slice(0, LINE_CHARS - 1)}…` : words;
}

/** What is asked for, to follow "demo asks local". */
function wishOf({ kind, choices }: AdminApproval, data: JsonObject | undefined): string {
  if (kind === 'auth') return 'for a credential';
  if (typeof data?.['tool'] === 'string') return `to allow ${data['tool']}`;
  return choices.length === 0 ? 'for an answer' : 'to decide';
}

/** A question that waits for an answer. Operators may answer for the caller. */
function Approval({ approval, isWanted }: { readonly approval: AdminApproval; readonly isWanted: boolean }) {
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
      {request === '' ? null : (
        <p class="dim">
          The request: <a href={`/console${placeOfConversation(approval)}`}>{request}</a> ·{' '}
          <a href={`/console/tasks/${encodeURIComponent(id)}`}>task</a>
        </p>
      )}
      <Markdown text={words === '' ? 'The agent waits for input and does not say which.' : words} />
      {details !== undefined && 'tool' in details ? (
        <div class="tree-box">
          <JsonTree value={details} open={2} />
        </div>
      ) : null}
      <Problem text={problem} />
      <div class="row">
        {choices.map(({ optionId, name, kind: meaning }) => (
          <button
            key={optionId}
            type="button"
            data-option={optionId}
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
