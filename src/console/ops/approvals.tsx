import { useEffect, useState } from 'preact/hooks';
import { questionOf } from '#client';
import type { AdminAnswered, JsonObject, Message, TaskId } from '#protocol';
import { getTextFromMessage, isDataPart } from '#protocol';
import { admin } from '../api.ts';
import { path, rest } from '../route.ts';
import { wantWords } from '../tasks/words.ts';
import { Ago, Empty, took } from '../ui/basic.tsx';
import { moveBy, usePlainKeys } from '../ui/keys.ts';
import { withoutCode } from '../ui/plain.ts';
import { Approval } from './question.tsx';
import { allowNotifications, approvals, isNotifying } from './watch.ts';
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
        Questions of agents. An answer here is given on behalf of the caller, and recorded in the audit log.{' '}
        <span class="key-hint">
          <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>1</kbd> to <kbd>9</kbd> choose.
        </span>
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
            <span class="answer">{answerIn(answer, id, question)}</span>
            <span class="dim">
              <Ago at={answeredAt} />, after {took(Date.parse(answeredAt) - Date.parse(askedAt))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** An answer in words: the name of the option that was chosen, or the text. */
function answerIn(answer: Message, id: TaskId, question: Message | undefined): string {
  const line = lineOf(answer);
  const asked = question === undefined ? undefined : questionOf({ id, status: { state: 'TASK_STATE_INPUT_REQUIRED', message: question } });
  return asked?.choices.find(({ optionId }) => optionId === line)?.name ?? line;
}

const LINE_CHARS = 160;

/** A message on one line: its text, or the option that it chose. */
function lineOf(message: Message): string {
  const data = message.parts.find(isDataPart)?.data;
  const option = typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject)['optionId'] : undefined;
  const text = withoutCode(getTextFromMessage(message)).replaceAll(/\s+/g, ' ').trim();
  const words = text === '' && typeof option === 'string' ? option : text;
  return words.length > LINE_CHARS ? `${words.slice(0, LINE_CHARS - 1)}…` : words;
}
