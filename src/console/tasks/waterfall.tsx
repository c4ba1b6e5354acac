import { useMemo } from 'preact/hooks';
import { took, when } from '../ui/basic.tsx';
import { Virtual } from '../ui/virtual.tsx';
import type { Span, SpanKind, TimeScale } from './spans.ts';
import { scaleOf, sharesOf } from './spans.ts';
import './waterfall.css';

const KINDS: Readonly<Record<SpanKind, string>> = {
  turn: 'turn',
  question: 'question',
  tool: 'tool',
  delegation: 'delegation',
  output: 'output',
  note: 'step',
  webhook: 'webhook',
};

const ROW_PX = 30;
const PHONE_ROW_PX = 46;
const HEIGHT_PX_MAX = 440;
const TICKS = [0, 0.25, 0.5, 0.75, 1] as const;

interface WaterfallProps {
  readonly spans: readonly Span[];
  /** The number of events that the replay shows. Later bars are pale. */
  readonly shownUpTo: number;
  readonly onPick: (at: number) => void;
  readonly label?: string;
}

/** Turns, tool calls, questions, delegations and webhooks as bars over time. */
export function Waterfall({ spans, shownUpTo, onPick, label = 'Timeline' }: WaterfallProps) {
  const scale = useMemo(() => scaleOf(spans), [spans]);
  const { workMs, waitMs } = useMemo(() => sharesOf(spans), [spans]);
  const rowPx = matchMedia('(max-width: 900px)').matches ? PHONE_ROW_PX : ROW_PX;
  const start = scale.timeAt(0);
  if (spans.length === 0) return null;
  return (
    <section class="waterfall" aria-label={label}>
      <div class="spread">
        <h2>{label}</h2>
        <p class="dim">
          worked <strong>{took(workMs)}</strong>
          {waitMs === 0 ? null : (
            <>
              {' '}
              · <span class="waited">waited for a person</span> <strong>{took(waitMs)}</strong>
              {scale.isSqueezed ? ', drawn shorter' : ''}
            </>
          )}
        </p>
      </div>
      <div class="panel">
        <div class="span-axis" aria-hidden="true">
          <span />
          <span class="span-ticks">
            {TICKS.map((tick) => (
              <i key={tick} style={{ left: `${tick * 100}%` }}>
                {took(scale.timeAt(tick) - start)}
              </i>
            ))}
          </span>
          <span />
        </div>
        <div class="span-rows" style={{ height: Math.min(HEIGHT_PX_MAX, spans.length * rowPx) }}>
          <Virtual
            label="Steps"
            count={spans.length}
            rowPx={rowPx}
            keyOf={(index) => index}
            row={(index) => <SpanRow span={spans[index]} scale={scale} isLater={(spans[index]?.at ?? 0) > shownUpTo} onPick={onPick} />}
          />
        </div>
      </div>
    </section>
  );
}

interface SpanRowProps {
  readonly span: Span | undefined;
  readonly scale: TimeScale;
  readonly isLater: boolean;
  readonly onPick: (at: number) => void;
}

/** One bar with its name and its duration. A click replays the task up to it. */
function SpanRow({ span, scale, isLater, onPick }: SpanRowProps) {
  if (span === undefined) return null;
  const { kind, label, from, to, at, isRough, isOpen, isBad } = span;
  const [left, right] = [scale.place(from), scale.place(to)];
  const length = isRough && to === from ? '' : `${isRough ? '≤ ' : ''}${took(to - from)}`;
  const isInner = kind !== 'turn' && kind !== 'question';
  return (
    <button
      type="button"
      class={`span span-${kind} ${isInner ? 'inner' : ''} ${isLater ? 'later' : ''} ${isBad ? 'bad' : ''}`}
      title={`${KINDS[kind]}: ${label}\n${when(from)}${isRough ? ', between two statuses' : ''}`}
      onClick={() => onPick(at)}
    >
      <span class="span-name">
        <b>{KINDS[kind]}</b> {label}
      </span>
      <span class="span-track">
        <i
          class={`${isRough ? 'rough' : ''} ${isOpen ? 'open' : ''}`}
          style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }}
        />
      </span>
      <span class="span-took">{isOpen ? `${length} …` : length}</span>
    </button>
  );
}
