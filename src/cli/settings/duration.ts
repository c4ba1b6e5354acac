import { usage } from '../command.ts';

/** The longest time that a timer can measure, in milliseconds. */
export const TIMER_MS_MAX = 2_147_483_647;

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const WHOLE = /^(?:\d{1,15}(?:\.\d{1,15})?(?:ms|s|m|h))+$/;
const ONE = /(\d{1,15}(?:\.\d{1,15})?)(ms|s|m|h)/g;

/** `500ms`, `2s`, `1m30s`, `1h`; a bare number is seconds. `name` is how an error names the setting. */
export function durationMs(name: string, text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return wholeMs(Number(text) * 1000);
  if (!WHOLE.test(text)) throw usage(`${name}: ${text} is not a duration`, `write it as 500ms, 2s, 1m30s or 1h; a bare number is seconds`);
  return wholeMs([...text.matchAll(ONE)].reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit as keyof typeof UNITS], 0));
}

/** Timers accept only whole milliseconds. A time that is not 0 stays at least 1. */
function wholeMs(ms: number): number {
  return ms === 0 ? 0 : Math.max(1, Math.round(ms));
}
