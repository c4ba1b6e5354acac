import type { ComponentChildren } from 'preact';
import { getTextFromMessage } from '#protocol';
import { StateBadge, took } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Diff, Parts } from '../ui/parts.tsx';
import type { AskedQuestion, ChatTurn, Shown, TurnStep } from './turn.ts';

interface AnswerProps {
  readonly title: string;
  readonly turn: ChatTurn;
  readonly isLast: boolean;
  readonly onChoose: (optionId: string) => void;
  /** The user interfaces that the agent shows. */
  readonly surfaces?: ComponentChildren;
  /** Buttons below a finished response. */
  readonly children?: ComponentChildren;
}

/** A response while it streams. */
export function Answer({ title, turn, isLast, onChoose, surfaces, children }: AnswerProps) {
  void turn.version.value;
  const isOver = turn.endedMs !== undefined;
  const hasShown = turn.shown.size > 0 || turn.direct !== undefined;
  const isBad = turn.state === 'TASK_STATE_FAILED' || turn.state === 'TASK_STATE_REJECTED';
  const closing = turn.closing === undefined ? '' : getTextFromMessage(turn.closing);
  return (
    <article class="said by-agent" aria-label={title} aria-busy={!isOver}>
      <Steps steps={turn.steps} isOver={isOver} isAll={!hasShown && closing === '' && turn.asked.length === 0} />
      {[...turn.shown.values()].map((shown) => (
        <ArtifactView key={shown.id} shown={shown} isOver={isOver} />
      ))}
      {turn.direct === undefined ? null : <Parts parts={turn.direct.parts} areSurfacesElsewhere />}
      {surfaces}
      {closing === '' || isBad ? null : <Markdown text={closing} />}
      {!isOver && !hasShown && turn.question === undefined ? (
        <p class="thinking">
          <i />
          <i />
          <i />
        </p>
      ) : null}
      {turn.asked.map((asked, at) => (
        <Asked key={at} asked={asked} canAnswer={isLast} onChoose={onChoose} />
      ))}
      <Failure turn={turn} isBad={isBad} closing={closing} />
      <footer>
        <TurnState turn={turn} />
        {turn.taskId === undefined ? null : <a href={`/console/tasks/${encodeURIComponent(turn.taskId)}`}>task</a>}
        {isOver ? (
          <span class="dim">
            {took(turn.endedMs ?? 0)}, {turn.events} events
          </span>
        ) : null}
        {isOver ? <span class="turn-actions">{children}</span> : null}
      </footer>
    </article>
  );
}

/** The state of the task after this turn. A question that was answered is no longer open. */
function TurnState({ turn: { state, asked, question } }: { readonly turn: ChatTurn }) {
  if (state === undefined) return null;
  const isAnswered = question === undefined && asked.length > 0 && /_REQUIRED$/.test(state);
  return isAnswered ? <span class="badge">answered</span> : <StateBadge state={state} />;
}

interface FailureProps {
  readonly turn: ChatTurn;
  readonly isBad: boolean;
  readonly closing: string;
}

/** Why it failed, with the ways to more. On an open node of this machine the message has the cause. */
function Failure({ turn, isBad, closing }: FailureProps) {
  if (!isBad && turn.problem === '') return null;
  const id = turn.taskId === undefined ? undefined : encodeURIComponent(turn.taskId);
  return (
    <div class="failure" role="alert">
      {turn.problem === '' ? null : <p>{turn.problem}</p>}
      {isBad ? <pre>{closing === '' ? 'The agent gave no reason.' : closing}</pre> : null}
      {id === undefined ? null : (
        <p>
          <a href={`/console/tasks/${id}`}>Open the task</a> · <a href={`/console/health?task=${id}`}>Show its log lines</a>
        </p>
      )}
    </div>
  );
}

/** A result. The name is shown only if it says something. */
function ArtifactView({ shown, isOver }: { readonly shown: Shown; readonly isOver: boolean }) {
  const isNamed = shown.name !== '' && shown.name !== 'assistant-response' && shown.parts.length > 0;
  const value = isOver ? jsonIn(shown.texts) : undefined;
  return (
    <div class="artifact">
      {isNamed ? <h3>{shown.name}</h3> : null}
      {value !== undefined ? (
        <div class="data">
          <JsonTree value={value} open={2} />
        </div>
      ) : shown.texts === '' ? null : (
        <Markdown text={shown.texts} />
      )}
      <Parts parts={shown.parts} areSurfacesElsewhere />
    </div>
  );
}

/** The object or list that a whole text is. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const TITLES: Readonly<Record<string, string>> = {
  tool_use: 'tool',
  tool_result: 'result',
  plan: 'plan',
  thought: 'thought',
  status: 'status',
};

interface StepsProps {
  readonly steps: readonly TurnStep[];
  readonly isOver: boolean;
  /** There is nothing else to show. */
  readonly isAll: boolean;
}

/** Collapsed, because the response matters more. The summary shows the last step. */
function Steps({ steps, isOver, isAll }: StepsProps) {
  const last = steps.at(-1);
  if (last === undefined) return null;
  return (
    <details class="steps" open={isOver && isAll}>
      <summary>
        <span class="count">
          {steps.length} {steps.length === 1 ? 'step' : 'steps'}
        </span>
        <span class="step-now">{isOver ? '' : (last.text.split('\n')[0] ?? '').slice(0, 120)}</span>
      </summary>
      <ol>
        {steps.slice(-200).map((step, at) => (
          <li key={at}>
            <span class="step-kind">{TITLES[step.kind] ?? step.kind}</span>
            <StepView step={step} />
          </li>
        ))}
      </ol>
    </details>
  );
}

/** A status message, with the changes of files that it reports. */
function StepView({ step }: { readonly step: TurnStep }) {
  const diffs = Array.isArray(step.data?.['diffs'])
    ? (step.data['diffs'] as readonly { path?: string; oldText?: string; newText?: string }[])
    : [];
  return (
    <div>
      <pre class="step-text">{step.text}</pre>
      {diffs.map(({ path = '', oldText = '', newText = '' }) => (
        <Diff key={path} text={[`--- ${path}`, `+++ ${path}`, ...lines('-', oldText), ...lines('+', newText)].join('\n')} />
      ))}
      {step.data === undefined || diffs.length > 0 || step.kind === 'plan' ? null : <JsonTree value={step.data} open={0} name="data" />}
    </div>
  );
}

function lines(mark: string, text: string): readonly string[] {
  return text === '' ? [] : text.split('\n').map((line) => `${mark}${line}`);
}

interface AskedProps {
  readonly asked: AskedQuestion;
  readonly canAnswer: boolean;
  readonly onChoose: (optionId: string) => void;
}

/** The agent's question: buttons for its choices while it is open, and the answer afterwards. Text answers go into the message box. */
function Asked({ asked: { question, answer, isOver }, canAnswer, onChoose }: AskedProps) {
  return (
    <section class={`question question-${question.kind} ${isOver ? 'over' : ''}`} aria-label="The agent asks">
      <Markdown text={question.text === '' ? 'The agent waits for your answer.' : question.text} />
      {isOver ? <p class="question-answer">{answer === '' ? 'No longer open.' : <>Answered: {answer}</>}</p> : null}
      {question.kind === 'auth' && !isOver ? (
        <p class="dim">The agent needs a credential: provide it elsewhere, or send it below.</p>
      ) : null}
      {canAnswer && !isOver && question.choices.length > 0 ? (
        <div class="row">
          {question.choices.map(({ optionId, name, kind }) => (
            <button
              key={optionId}
              type="button"
              class={kind?.startsWith('allow') ? 'primary' : kind === undefined ? '' : 'danger'}
              onClick={() => onChoose(optionId)}
            >
              {name}
            </button>
          ))}
        </div>
      ) : null}
    </section>
  );
}
