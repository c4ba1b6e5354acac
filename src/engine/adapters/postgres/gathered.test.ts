import { describe, expect, it } from 'vitest';
import { gathered } from './gathered.ts';

/** A query that answers when told to. */
function slowly(): {
  readonly asked: (readonly number[])[];
  readonly answers: (() => void)[];
  readonly look: (key: number) => Promise<string>;
} {
  const asked: (readonly number[])[] = [];
  const answers: (() => void)[] = [];
  const look = gathered(async (keys: readonly number[]) => {
    asked.push(keys);
    await new Promise<void>((resolve) => answers.push(resolve));
    if (keys.includes(13)) throw new Error('no');
    return keys.map((key) => `value ${key}`);
  });
  return { asked, answers, look };
}

describe('gathered look-ups', () => {
  it('start at once, and share a query with those that come while one is under way', async () => {
    const { asked, answers, look } = slowly();
    const all = Promise.all([look(1), look(2), look(3)]);
    expect(asked).toEqual([[1]]);
    answers.shift()?.();
    while (asked.length < 2) await Promise.resolve();
    answers.shift()?.();
    expect(await all).toEqual(['value 1', 'value 2', 'value 3']);
    expect(asked[1]).toEqual([2, 3]);
  });

  it('fail together, and continue with the next query', async () => {
    const { asked, answers, look } = slowly();
    const bad = look(13);
    const next = look(1);
    answers.shift()?.();
    await expect(bad).rejects.toThrow('no');
    while (asked.length < 2) await Promise.resolve();
    answers.shift()?.();
    expect(await next).toBe('value 1');
  });

  it('ask for at most 256 keys in one query', async () => {
    const asked: number[] = [];
    const look = gathered(async (keys: readonly number[]) => {
      asked.push(keys.length);
      return keys;
    });
    const values = await Promise.all(Array.from({ length: 600 }, (_, at) => look(at)));
    expect(values).toEqual(Array.from({ length: 600 }, (_, at) => at));
    expect(asked).toEqual([1, 256, 256, 87]);
  });
});
