import { useEffect, useRef } from 'preact/hooks';
import { getTextFromMessage, isDataPart, isTerminal } from '#protocol';
import { StateBadge, took } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Diff, Parts } from '../ui/parts.tsx';
import type { ChatSession } from './store.ts';
import { choose } from './store.ts';
import type { ChatTurn, Shown, TurnStep } from './turn.ts';

/** The conversation. Scrolls to the end when an entry is added. */
export function Transcript({ chat }: { readonly chat: ChatSession }) {
  const end = useRef<HTMLDivElement>(null);
  const entries = chat.entries.value ?? [];
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [entries.length]);
  return (
    <div class="transcript" role="log" aria-label={`Conversation with ${chat.title.value}`}>
      {entries.map((entry, at) =>
        entry.by === 'user' ? (
          <article key={at} class="said by-user" aria-label="You">
            {entry.parts.length === 1 && entry.parts[0] !== undefined && isDataPart(entry.parts[0]) ? (
              <p class="chose">{chosenWord(entry.parts[0].data)}</p>
            ) : (
              <Parts parts={entry.parts} />
            )}
          </article>
        ) : (
          <Answer
            key={at}
            title={chat.title.value ?? 'agent'}
            turn={entry.turn}
            end={end}
            isLast={at === entries.length - 1}
            onChoose={(optionId) => void choose(chat, optionId)}
          />
        ),
      )}
      <div ref={end} />
    </div>
  );
}

function chosenWord(data: unknown): string {
  const id = typeof data === 'object' && data !== null && 'optionId' in data ? String(data.optionId) : 'an answer';
  return `Chose: ${id}`;
}

interface AnswerProps {
  readonly title: string;
  readonly turn: ChatTurn;
  readonly isLast: boolean;
  readonly onChoose: (optionId: string) => void;
  /** The element below the response, which is scrolled into view as the response grows. */
  readonly end?: { readonly current: HTMLDivElement | null };
}

/** A response while it streams. */
export function Answer({ title, turn, end, isLast, onChoose }: AnswerProps) {
  const version = turn.version.value;
  useEffect(() => {
    const box = isLast ? end?.current?.parentElement : undefined;
    // A user who has scrolled up is reading: do not scroll.
    if (box && box.scrollHeight - box.scrollTop - box.clientHeight < 160) box.scrollTop = box.scrollHeight;
  }, [version]);
  const isOver = turn.endedMs !== undefined;
  const hasShown = turn.shown.size > 0 || turn.direct !== undefined;
  const closing = turn.last !== undefined && turn.state !== undefined && isTerminal(turn.state) ? getTextFromMessage(turn.last) : '';
  return (
    <article class="said by-agent" aria-label={title} aria-busy={!isOver}>
      <Steps steps={turn.steps} isOver={isOver} />
      {[...turn.shown.values()].map((shown) => (
        <ArtifactView key={shown.id} shown={shown} />
      ))}
      {turn.direct === undefined ? null : <Parts parts={turn.direct.parts} />}
      {closing === '' ? null : <Markdown text={closing} />}
      {!isOver && !hasShown && turn.question === undefined ? (
        <p class="thinking">
          <i />
          <i />
          <i />
        </p>
      ) : null}
      <Asked turn={turn} isLast={isLast} onChoose={onChoose} />
      {turn.problem === '' ? null : (
        <p class="problem" role="alert">
          {turn.problem}
        </p>
      )}
      <footer>
        {turn.state === undefined ? null : <StateBadge state={turn.state} />}
        {turn.taskId === undefined ? null : <a href={`/console/tasks/${encodeURIComponent(turn.taskId)}`}>task</a>}
        {isOver ? (
          <span class="dim">
            {took(turn.endedMs ?? 0)}, {turn.events} events
          </span>
        ) : null}
      </footer>
    </article>
  );
}

/** A result. The name is shown only if it says something. */
function ArtifactView({ shown }: { readonly shown: Shown }) {
  const isNamed = shown.name !== '' && shown.name !== 'assistant-response' && shown.parts.length > 0;
  return (
    <div class="artifact">
      {isNamed ? <h3>{shown.name}</h3> : null}
      {shown.texts === '' ? null : <Markdown text={shown.texts} />}
      <Parts parts={shown.parts} />
    </div>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  tool_use: 'tool',
  tool_result: 'result',
  plan: 'plan',
  thought: 'thought',
  status: 'status',
};

/** Collapsed, because the response matters more. The summary shows the last step. */
function Steps({ steps, isOver }: { readonly steps: readonly TurnStep[]; readonly isOver: boolean }) {
  const last = steps.at(-1);
  if (last === undefined) return null;
  return (
    <details class="steps">
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

/** The agent's question: buttons for its choices. Text answers go into the message box. */
function Asked({ turn, isLast, onChoose }: Pick<AnswerProps, 'turn' | 'isLast' | 'onChoose'>) {
  const { question } = turn;
  if (question === undefined) return null;
  return (
    <section class={`question question-${question.kind}`} aria-label="The agent asks">
      <Markdown text={question.text === '' ? 'The agent waits for your answer.' : question.text} />
      {question.kind === 'auth' ? <p class="dim">The agent needs a credential: provide it elsewhere, or send it below.</p> : null}
      {isLast && question.choices.length > 0 ? (
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
