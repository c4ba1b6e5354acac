import { expect, it } from 'vitest';
import { causeIn, failureIn } from '../../src/console/ui/cause.ts';
import { took } from '../../src/console/ui/took.ts';

it.each([
  [0, '< 1 ms'],
  [1, '1 ms'],
  [999.7, '1.0 s'],
  [59_949, '59.9 s'],
  [59_999, '1 min 0 s'],
  [119_800, '2 min 0 s'],
  [3_599_900, '1 h 0 min'],
  [9_000_000, '2 h 30 min'],
  [86_399_000, '1 d 0 h'],
  [277_200_000, '3 d 5 h'],
])('writes %s ms as %s', (ms, words) => {
  expect(took(ms)).toBe(words);
});

it('shortens what an agent threw to its message', () => {
  const whole = 'The agent failed: Error: no orders, at Object.run (file:///a/b.ts:1:2). Only callers on this machine see the cause.';
  expect(causeIn(whole)).toBe('no orders');
  expect(causeIn('The agent failed: TypeError: x is not a function. Only callers on this machine see the cause.')).toBe(
    'TypeError: x is not a function',
  );
  for (const length of [72, 90, 100, 110]) expect([length, causeIn(`${whole.slice(0, length)}…`)]).toEqual([length, 'no orders']);
  expect(causeIn('The agent failed: Error: the list is long, at least for a l…')).toBe('the list is long, at least for a l…');
  expect(causeIn('I may not do that, at least not today.')).toBe('I may not do that, at least not today.');
});

it('divides what a failed agent said into words, the place in the code, and who may see it', () => {
  const whole = 'The agent failed: Error: no orders, at Object.run (file:///a/b.ts:1:2). Only callers on this machine see the cause.';
  expect(failureIn(whole)).toEqual({
    words: 'The agent failed: no orders',
    rest: 'at Object.run (file:///a/b.ts:1:2)',
    isOnlyHere: true,
  });
  expect(failureIn('Two\nlines')).toEqual({ words: 'Two', rest: 'lines', isOnlyHere: false });
});
