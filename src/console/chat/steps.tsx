import { JsonTree } from '../ui/json-tree.tsx';
import { Diff } from '../ui/parts.tsx';
import type { TurnStep } from './turn.ts';

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
export function Steps({ steps, isOver, isAll }: StepsProps) {
  const last = steps.at(-1);
  if (last === undefined) return null;
  return (
    <details class="steps" open={isOver && isAll}>
      <summary>
        <span class="count">
          {steps.length} {steps.length === 1 ? 'step' : 'steps'}
        </span>
        <span class="step-now">{isOver && isAll ? '' : (last.text.split('\n')[0] ?? '').slice(0, 120)}</span>
      </summary>
      <StepList steps={steps} />
    </details>
  );
}

const STEPS_SHOWN = 200;

/** The latest steps, one below the other. */
export function StepList({ steps }: { readonly steps: readonly TurnStep[] }) {
  if (steps.length === 0) return null;
  return (
    <ol class="step-list">
      {steps.slice(-STEPS_SHOWN).map((step, at) => (
        <li key={at}>
          <span class="step-kind">{TITLES[step.kind] ?? step.kind}</span>
          <StepView step={step} />
        </li>
      ))}
    </ol>
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
