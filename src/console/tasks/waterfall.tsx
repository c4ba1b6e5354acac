import { useMemo, useState } from 'preact/hooks';
import { took, when } from '../ui/basic.tsx';
import { Virtual } from '../ui/virtual.tsx';
import type { Span, SpanKind } from './spans.ts';
import type { TimeScale } from './time-scale.ts';
import { scaleOf, sharesOf } from './time-scale.ts';
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
  /** The least length of the time axis. */
  readonly lengthMs?: number;
}

/** Turns, tool calls, questions, delegations and webhooks as bars over time. */
export function Waterfall({ spans, shownUpTo, onPick, label = 'Timeline', lengthMs }: WaterfallProps) {
  const scale = useMemo(() => scaleOf(spans, lengthMs), [spans, lengthMs]);
  const { workMs, waitMs } = useMemo(() => sharesOf(spans), [spans]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => spans.filter(({ inside }) => inside === undefined || open.has(inside)), [spans, open]);
  const owners = useMemo(() => new Set(spans.flatMap(({ inside = [] }) => inside)), [spans]);
  const toggle = (name: string): void =>
    setOpen(open.has(name) ? new Set([...open].filter((one) => one !== name)) : new Set([...open, name]));
  const rowPx = matchMedia('(max-width: 900px)').matches ? PHONE_ROW_PX : ROW_PX;
  if (spans.length === 0) return null;
  return (
    <section class="waterfall" aria-label={label}>
      <div class="spread">
        <h2>Timeline</h2>
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
            {ticksOf(scale).map(([tick, words]) => (
              <i key={tick} style={{ left: `${tick * 100}%` }}>
                {words}
              </i>
            ))}
          </span>
          <span />
        </div>
        <div class="span-rows" style={{ height: Math.min(HEIGHT_PX_MAX, rows.length * rowPx) }}>
          <Virtual
            label="Steps"
            count={rows.length}
            rowPx={rowPx}
            keyOf={(index) => index}
            row={(index) => {
              const span = rows[index];
              const fold = span?.owns !== undefined && owners.has(span.owns) ? span.owns : undefined;
              return (
                <>
                  {fold === undefined ? null : <Fold label={span?.label ?? ''} isOpen={open.has(fold)} onToggle={() => toggle(fold)} />}
                  <SpanRow span={span} scale={scale} isLater={(span?.at ?? 0) > shownUpTo} onPick={onPick} />
                </>
              );
            }}
          />
        </div>
      </div>
    </section>
  );
}

/** Places on the axis with their times. A time that is the same in words as the one before it is left out, but never the last. */
function ticksOf(scale: TimeScale): readonly (readonly [number, string])[] {
  const start = scale.timeAt(0);
  const all = TICKS.map((tick) => [tick, tick === 0 ? '0 ms' : took(scale.timeAt(tick) - start)] as const);
  const last = all.at(-1)?.[1];
  return all.filter(([tick, words], at) => tick === 1 || (words !== last && words !== all[at - 1]?.[1]));
}

interface FoldProps {
  readonly label: string;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** Shows or hides what another agent did. */
function Fold({ label, isOpen, onToggle }: FoldProps) {
  return (
    <button type="button" class="span-fold" aria-expanded={isOpen} aria-label={`Steps of ${label}`} onClick={onToggle}>
      {isOpen ? '▾' : '▸'}
    </button>
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
  const depth = kind === 'turn' || kind === 'question' ? '' : span.inside === undefined ? 'inner' : 'inner deep';
  return (
    <button
      type="button"
      class={`span span-${kind} ${depth} ${isLater ? 'later' : ''} ${isBad ? 'bad' : ''}`}
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
