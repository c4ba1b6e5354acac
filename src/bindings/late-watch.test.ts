import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LateWatch } from './late-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('watches once an answer that is not taken after a while, and no answer that is', () => {
  const watch = new LateWatch();
  const watched: string[] = [];
  const answer = (name: string) => ({ watchEnd: () => void watched.push(name) });
  const taken = Array.from({ length: 1000 }, () => answer('taken'));
  watch.add(answer('slow'));
  for (const each of taken) watch.add(each);
  for (const each of taken) watch.delete(each);
  vi.advanceTimersByTime(5000);
  expect(watched).toEqual(['slow']);
});
