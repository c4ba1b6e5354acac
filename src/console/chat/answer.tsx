import type { ComponentChildren } from 'preact';
import { getTextFromMessage } from '#protocol';
import { StateBadge, took } from '../ui/basic.tsx';
import { FailureBox } from '../ui/failure.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { onlyText, Parts } from '../ui/parts.tsx';
import { Delegations } from './delegations.tsx';
import { Steps } from './steps.tsx';
import type { AskedQuestion, ChatTurn, Shown } from './turn.ts';

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
      <Delegations all={turn.delegations} isTurnOver={isOver} />
      {[...turn.shown.values()].map((shown) =>
        isRepeated(shown, closing) ? null : <ArtifactView key={shown.id} shown={shown} isOver={isOver} />,
      )}
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
      {isBad || turn.problem !== '' ? (
        <FailureBox said={isBad ? closing || 'The agent gave no reason.' : ''} problem={turn.problem} taskId={turn.taskId} />
      ) : null}
      <footer>
        <TurnState turn={turn} />
        {turn.taskId === undefined ? null : <a href={`/console/tasks/${encodeURIComponent(turn.taskId)}`}>Open the task</a>}
        {isOver ? (
          <span class="dim">
            {took(turn.endedMs ?? 0)}, {turn.events.toLocaleString('en')} events
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

/** Whether an artifact has only the text of the closing message, as data: the result of a workflow. */
function isRepeated({ texts, parts }: Shown, closing: string): boolean {
  const [part] = parts;
  return texts === '' && parts.length === 1 && part !== undefined && closing !== '' && onlyText(part.data) === closing;
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
