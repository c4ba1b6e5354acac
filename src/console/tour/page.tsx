import type { ComponentChildren } from 'preact';
import { agents } from '../agents/known.ts';
import { Answer } from '../chat/answer.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import type { TourStep, WireAnswer } from './steps.ts';
import { decide, runCut, runDialects, runPlain, STEPS, wireAnswers } from './steps.ts';
import './tour.css';

/** A short tour with real tasks of the demo agent. */
export function TourPage() {
  const hasDemo = agents.value === undefined || agents.value.some(({ name }) => name === 'demo');
  return (
    <div class="page tour">
      <header class="hero">
        <h1>Tour</h1>
        <p>
          Five examples with the demo agent of this node. They are real tasks: you find them under <a href="/console/tasks">Tasks</a>, and
          each of their requests under <a href="/console/wire">Wire</a>.
        </p>
      </header>
      {hasDemo ? <Steps /> : <NoDemo />}
    </div>
  );
}

/** Shown on a node without the demo agent, which the tour needs. */
function NoDemo() {
  return (
    <section class="panel">
      <h2>This node does not serve the demo agent</h2>
      <p>
        The tour needs it: <code>parley serve demo</code>. Meanwhile, <a href="/console/chat">talk to an agent of this node</a> or{' '}
        <a href="/console/agents">see their cards</a>.
      </p>
    </section>
  );
}

/** The steps of the tour, in order. */
function Steps() {
  return (
    <ol class="tour-steps">
      <StepView step={STEPS.stream} n={1} run={() => runPlain(STEPS.stream, 'stream')}>
        <Turns step={STEPS.stream} />
      </StepView>
      <StepView step={STEPS.approve} n={2} run={() => runPlain(STEPS.approve, 'approve')}>
        <Turns step={STEPS.approve} />
      </StepView>
      <StepView step={STEPS.file} n={3} run={() => runPlain(STEPS.file, 'file')}>
        <Turns step={STEPS.file} />
      </StepView>
      <StepView step={STEPS.cut} n={4} run={() => runCut(STEPS.cut)}>
        <Turns step={STEPS.cut} />
        <Notes step={STEPS.cut} />
      </StepView>
      <StepView step={STEPS.dialects} n={5} run={() => runDialects(STEPS.dialects)}>
        <Notes step={STEPS.dialects} />
        <Dialects answers={wireAnswers.value} />
      </StepView>
    </ol>
  );
}

const WORDS = { idle: 'Run', running: 'Running …', waiting: 'Waiting for you', done: 'Run again', failed: 'Try again' } as const;

interface StepProps {
  readonly step: TourStep;
  readonly n: number;
  readonly run: () => Promise<void>;
  readonly children: ComponentChildren;
}

/** One step, with its button and its results. */
function StepView({ step, n, run, children }: StepProps) {
  const state = step.state.value ?? 'idle';
  return (
    <li class={`panel tour-step is-${state}`} aria-label={step.title}>
      <span class="number" aria-hidden="true">
        {state === 'done' ? '✓' : n}
      </span>
      <div class="tour-body">
        <div class="spread">
          <h2>{step.title}</h2>
          <button
            type="button"
            class={state === 'idle' ? 'primary' : ''}
            disabled={state === 'running' || state === 'waiting'}
            onClick={() => void run()}
          >
            {WORDS[state]}
            <span class="unseen">: {step.title}</span>
          </button>
        </div>
        <p class="dim">{step.words}</p>
        {children}
      </div>
    </li>
  );
}

/** What the demo agent answered in this step. */
function Turns({ step }: { readonly step: TourStep }) {
  const turns = step.turns.value ?? [];
  return (
    <>
      {turns.map((turn, at) => (
        <Answer
          key={turn.began}
          title="demo"
          turn={turn}
          isLast={at === turns.length - 1}
          onChoose={(optionId) => void decide(step, optionId)}
        />
      ))}
    </>
  );
}

/** What the step has found out, for example after which event a stream resumed. */
function Notes({ step }: { readonly step: TourStep }) {
  const notes = step.notes.value ?? [];
  if (notes.length === 0) return null;
  return (
    <div class="notes" role="status">
      <ul>
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}

/** One task in every dialect. */
function Dialects({ answers }: { readonly answers: readonly WireAnswer[] }) {
  if (answers.length === 0) return null;
  return (
    <>
      <ol class="eight">
        {answers.map(({ dialect, method, status, body }) => (
          <li key={dialect.id}>
            <details>
              <summary>
                <strong>{dialect.title}</strong> <code>{method}</code>{' '}
                <span class={status === 200 ? 'badge badge-ok' : 'badge badge-bad'}>{status}</span>
              </summary>
              <div class="tree-box">
                <JsonTree value={body} open={4} />
              </div>
            </details>
          </li>
        ))}
      </ol>
      <p>
        <a href={`/console/wire/rosetta?task=${encodeURIComponent(STEPS.stream.turns.value?.at(-1)?.taskId ?? '')}`}>
          Side by side, with what each loses
        </a>
      </p>
    </>
  );
}
