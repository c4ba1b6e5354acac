import type { Timers } from '../timers.ts';

/** Readers that are woken before other requests get a turn. */
const WAKES_AT_ONCE = 128;

/** Wakes readers. Ten thousand of them take a tenth of a second, so they wake in several turns of the event loop. One that has left ignores it. */
export function wakeAll(wakes: ReadonlySet<() => void>, timers: Pick<Timers, 'soon'>): void {
  if (wakes.size <= WAKES_AT_ONCE) for (const wake of wakes) wake();
  else wakeSome([...wakes], timers);
}

function wakeSome(wakes: readonly (() => void)[], timers: Pick<Timers, 'soon'>): void {
  for (const wake of wakes.slice(0, WAKES_AT_ONCE)) wake();
  const rest = wakes.slice(WAKES_AT_ONCE);
  if (rest.length > 0) timers.soon(() => wakeSome(rest, timers));
}
