import { useState } from 'preact/hooks';
import type { Task } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { AgentWords } from '../tasks/outcome.tsx';
import { Problem } from '../ui/basic.tsx';
import { Parts } from '../ui/parts.tsx';
import { StepList } from './steps.tsx';
import type { ChatDelegation } from './turn.ts';

/** The agents that worked for this one. What each said is folded under its name. */
export function Delegations({ all, isTurnOver }: { readonly all: readonly ChatDelegation[]; readonly isTurnOver: boolean }) {
  if (all.length === 0) return null;
  return (
    <ul class="delegations" aria-label="Delegated to other agents">
      {all.map((one, at) => (
        <li key={at}>
          <Delegation one={one} isTurnOver={isTurnOver} />
        </li>
      ))}
    </ul>
  );
}

function Delegation({ one, isTurnOver }: { readonly one: ChatDelegation; readonly isTurnOver: boolean }) {
  const { agent, description, steps, parts, taskId, error } = one;
  const [isOpen, setOpen] = useState(false);
  const last = steps.at(-1)?.text.split('\n')[0] ?? '';
  const isWorking = !one.isOver && !isTurnOver;
  return (
    <details class="delegation" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{agent}</strong>
        <span class="delegation-about">{isWorking && last !== '' ? last.slice(0, 120) : description}</span>
        <span class="said-count">{steps.length === 0 ? '' : steps.length === 1 ? '1 message' : `${steps.length} messages`}</span>
        <span class={`badge ${error !== '' ? 'badge-bad' : isWorking ? 'badge-live' : 'badge-ok'}`}>
          {error !== '' ? 'failed' : isWorking ? 'working' : 'done'}
        </span>
      </summary>
      <div class="delegation-in">
        <StepList steps={steps} />
        {error === '' ? null : <Problem text={error} />}
        {parts.length === 0 || taskId !== undefined ? null : <Parts parts={parts} />}
        {taskId === undefined ? null : <DelegateTask id={taskId} isShown={isOpen} />}
        {steps.length === 0 && parts.length === 0 && taskId === undefined && error === '' ? <p class="dim">It said nothing here.</p> : null}
      </div>
    </details>
  );
}

/** What the other agent's task has, read when the fold is opened for the first time. */
function DelegateTask({ id, isShown }: { readonly id: string; readonly isShown: boolean }) {
  const [task, setTask] = useState<Task | 'elsewhere' | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [isAsked, setAsked] = useState(false);
  if (isShown && !isAsked) {
    setAsked(true);
    admin.task(id).then(
      (found) => setTask(found.task),
      (thrown: unknown) => {
        // An agent elsewhere has its own log.
        if (thrown instanceof Error && 'status' in thrown && thrown.status === 404) setTask('elsewhere');
        else setProblem(wordsFor(thrown));
      },
    );
  }
  if (task === 'elsewhere')
    return (
      <p class="dim">
        Its task is on another node: <code>{id}</code>
      </p>
    );
  return (
    <>
      <Problem text={problem} />
      {task === undefined ? null : <AgentWords task={task} />}
      <p>
        <a href={`/console/tasks/${encodeURIComponent(id)}`}>Open its task</a>
      </p>
    </>
  );
}
