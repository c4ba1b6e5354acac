import { describe, expect, it } from 'vitest';
import { toArray } from './text.ts';

describe('toArray', () => {
  it('writes numbers, truth values and nulls as they are', () => {
    expect(toArray([])).toBe('{}');
    expect(toArray([1, null, undefined, -2, true])).toBe('{1,NULL,NULL,-2,true}');
  });

  it('quotes texts, so that none is taken for a null or a border', () => {
    expect(toArray(['NULL', '', 'a,b}', ' '])).toBe('{"NULL","","a,b}"," "}');
  });

  it('escapes quotes and backslashes, and leaves control characters as they are', () => {
    expect(toArray(['say "hi"', 'C:\\x'])).toBe('{"say \\"hi\\"","C:\\\\x"}');
    expect(toArray(['a\n"b"\\\t'])).toBe('{"a\n\\"b\\"\\\\\t"}');
  });
});
