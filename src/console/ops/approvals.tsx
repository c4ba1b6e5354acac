import { useState } from 'preact/hooks';
import type { AdminApproval } from '#protocol';
import { getTextFromMessage, isDataPart } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { path, rest } from '../route.ts';
import { Empty, Problem, say, when } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { allowNotifications, approvals, isNotifying, refreshApprovals } from './watch.ts';
import './ops.css';

/** All questions that wait for a person, of all agents and callers. */
export function ApprovalsPage() {
  const wanted = path.value === '/approvals' ? '' : rest('/approvals');
  const all = approvals.value;
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
      <p class="lead">Questions of agents. An answer here is given on behalf of the caller, and recorded in the audit log.</p>
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
    </div>
  );
}

/** A question that waits for an answer. Operators may answer for the caller. */
function Approval({ approval, isWanted }: { readonly approval: AdminApproval; readonly isWanted: boolean }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const { id, agent, principal, question, choices, statusAt, kind } = approval;
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
  return (
    <article class={isWanted ? 'panel approval wanted' : 'panel approval'} aria-label={`${agent} asks`}>
      <p class="spread dim">
        <span>
          <strong>{agent}</strong> asks {principal} · {kind === 'auth' ? 'a credential' : 'an answer'}
        </span>
        <span>
          {when(statusAt)} · <a href={`/console/tasks/${encodeURIComponent(id)}`}>task</a>
        </span>
      </p>
      <Markdown text={words === '' ? 'The agent waits for input and does not say which.' : words} />
      {typeof data === 'object' && data !== null && 'tool' in data ? (
        <div class="tree-box">
          <JsonTree value={data} open={2} />
        </div>
      ) : null}
      <Problem text={problem} />
      <div class="row">
        {choices.map(({ optionId, name, kind: meaning }) => (
          <button
            key={optionId}
            type="button"
            class={meaning?.startsWith('allow') ? 'primary' : meaning === undefined ? '' : 'danger'}
            onClick={() => void answer({ optionId })}
          >
            {name}
          </button>
        ))}
        <form
          class="row grow"
          onSubmit={(event) => {
            event.preventDefault();
            if (text !== '') void answer({ text });
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
      </div>
    </article>
  );
}
