import { expect, it } from 'vitest';
import { counted } from './counted.ts';

it.each([
  [0, '0 files'],
  [1, '1 file'],
  [2, '2 files'],
])('counts %i', (count, text) => expect(counted(count, 'file')).toBe(text));

it('knows other plurals', () => {
  expect([counted(1, 'log entry', 'log entries'), counted(3, 'log entry', 'log entries')]).toEqual(['1 log entry', '3 log entries']);
});
