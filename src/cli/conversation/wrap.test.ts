import { describe, expect, it } from 'vitest';
import { wordWrap } from './wrap.ts';

const wrapped = (chunks: readonly string[], columns = 10): string => {
  const wrap = wordWrap(() => columns);
  return chunks.map((chunk) => wrap.add(chunk)).join('') + wrap.flush(true);
};

describe('text on a terminal', () => {
  it('breaks at words, also where a word comes in two chunks', () => {
    expect(wrapped(['one two three four'])).toBe('one two\nthree four');
    expect(wrapped(['one two th', 'ree four'])).toBe('one two\nthree four');
  });

  it('keeps line breaks and indentation', () => {
    expect(wrapped(['a\n  b c\n\nd'])).toBe('a\n  b c\n\nd');
  });

  it('prints long words without a delay', () => {
    const wrap = wordWrap(() => 20);
    expect(wrap.add('x'.repeat(45))).toBe('x'.repeat(40));
    expect(wrap.flush()).toBe('\nxxxxx');
  });
});
