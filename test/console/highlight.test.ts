import { describe, expect, it } from 'vitest';
import { differingPaths, linesOf } from '../../src/console/tasks/differing.ts';
import { tokensOf } from '../../src/console/ui/highlight.ts';
import { markdownHtml } from '../../src/console/ui/markdown-html.ts';

describe('coloured code', () => {
  it('keeps every character, and names comments, strings, numbers, keywords and calls', () => {
    const code = 'const total = sum(2, "a // b"); // done\n';
    const tokens = tokensOf(code, 'ts');
    expect(tokens.map(([text]) => text).join('')).toBe(code);
    expect(tokens.filter(([, kind]) => kind !== '')).toEqual([
      ['const', 'keyword'],
      ['sum', 'function'],
      ['2', 'number'],
      ['"a // b"', 'string'],
      ['// done', 'comment'],
    ]);
  });

  it('takes # and -- for comments where they are', () => {
    expect(tokensOf('x = 1 # one', 'python').at(-1)).toEqual(['# one', 'comment']);
    expect(tokensOf('SELECT 1 -- one', 'sql').map(([, kind]) => kind)).toEqual(['keyword', '', 'number', '', 'comment']);
  });

  it('writes the language where the cleaning leaves it, escaped', () => {
    expect(markdownHtml('```ts"onx\na < b\n```')).toBe('<pre><code title="ts&quot;onx">a &lt; b\n</code></pre>\n');
  });
});

describe('what differs', () => {
  it('is a line that the other text does not have', () => {
    const [one, other] = linesOf('a\nb\nc', 'a\nx\nc');
    expect(one.filter(({ isOwn }) => isOwn).map(({ text }) => text)).toEqual(['b']);
    expect(other.filter(({ isOwn }) => isOwn).map(({ text }) => text)).toEqual(['x']);
  });

  it('is a path of JSON', () => {
    expect(differingPaths({ a: [{ b: 1, c: 2 }], d: 1 }, { a: [{ b: 1, c: 3 }], e: 1 })).toEqual(['a[0].c', 'd', 'e']);
  });
});
