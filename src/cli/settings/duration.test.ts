import { expect, it } from 'vitest';
import { durationMs } from './duration.ts';

it.each([
  ['500ms', 500],
  ['2s', 2000],
  ['1m30s', 90_000],
  ['1h', 3_600_000],
  ['1.5s', 1500],
  ['7', 7000],
  ['0.25', 250],
  ['1.0001s', 1000],
  ['0.0001s', 1],
  ['0ms', 0],
])('%s is %i ms', (text, ms) => {
  expect(durationMs('timeout', text)).toBe(ms);
});

it.each(['', 'soon', '5 s', '5x', 's', '-1s', '1s2'])('rejects %j', (text) => {
  expect(() => durationMs('timeout', text)).toThrow('is not a duration');
});
