import type { Span, SpanKind } from './spans.ts';

/** How long the agent worked, and how long the task waited for a person. */
export function sharesOf(spans: readonly Span[]): { readonly workMs: number; readonly waitMs: number } {
  const sum = (kind: SpanKind): number => spans.reduce((all, span) => (span.kind === kind ? all + span.to - span.from : all), 0);
  return { workMs: sum('turn'), waitMs: sum('question') };
}

/** Positions of times on the screen, from 0 to 1. */
export interface TimeScale {
  readonly isSqueezed: boolean;
  place(ms: number): number;
  timeAt(place: number): number;
}

/** A long wait for a person is drawn this wide, in parts of the whole. */
const WAIT_WIDTH = 0.08;
const WAITS_WIDTH_MAX = 0.4;
/** Waits are squeezed when they are more than this part of the time. */
const WAITS_SHARE = 0.3;

/**
 * The scale of a waterfall. When the task waited long for a person, the waits are squeezed, so that
 * the work stays visible. It ends after `lengthMs` or with the last bar, whichever is later.
 */
export function scaleOf(spans: readonly Span[], lengthMs = 1): TimeScale {
  const start = Math.min(...spans.map(({ from }) => from));
  const end = Math.max(start + lengthMs, start + 1, ...spans.map(({ to }) => to));
  const waits = spans.filter(({ kind, from, to }) => kind === 'question' && to > from);
  const waited = waits.reduce((all, { from, to }) => all + to - from, 0);
  const isSqueezed = waited > WAITS_SHARE * (end - start) && waited < end - start;
  const width = Math.min(WAIT_WIDTH, WAITS_WIDTH_MAX / Math.max(1, waits.length));
  const perMs = isSqueezed ? (1 - width * waits.length) / (end - start - waited) : 1 / (end - start);
  const times = [start];
  const places = [0];
  const step = (to: number, grown: number): void => {
    times.push(to);
    places.push((places.at(-1) ?? 0) + grown);
  };
  for (const { from, to } of isSqueezed ? waits : []) {
    step(from, (from - (times.at(-1) ?? start)) * perMs);
    step(to, width);
  }
  step(end, (end - (times.at(-1) ?? start)) * perMs);
  return { isSqueezed, place: (ms) => along(ms, times, places), timeAt: (place) => along(place, places, times) };
}

/** Linear between the known points. */
function along(value: number, from: readonly number[], to: readonly number[]): number {
  for (let at = 1; at < from.length; at += 1) {
    const [low = 0, high = 0, start = 0, end = 0] = [from[at - 1], from[at], to[at - 1], to[at]];
    if (value <= high) return high <= low ? end : start + (Math.max(0, value - low) / (high - low)) * (end - start);
  }
  return to.at(-1) ?? 0;
}
