import { describe, expect, it } from 'vitest';
import { snippetOf } from './snippet.ts';
import { searchTerms } from './terms.ts';
import { plainWords } from './words.ts';

describe('the words of a text', () => {
  it('have no case, no accents and no signs', () => {
    expect(plainWords('Crème-Brûlée, İstanbul & ÅNGSTRÖM № 5 x²')).toBe('creme brulee istanbul angstrom 5 x2');
  });

  it('are single characters where a script has no spaces', () => {
    expect(plainWords('天気 OK')).toBe('天 気 ok');
  });

  it('are cut when they are very long', () => {
    expect(plainWords('a'.repeat(1000))).toHaveLength(64);
    expect(plainWords('𝒜'.repeat(100)).isWellFormed()).toBe(true);
  });
});

describe('a search', () => {
  it('has words, phrases and starts of words', () => {
    expect(searchTerms('two words "a phrase" sta* "last par"*')).toEqual([
      { words: ['two'], isPrefix: false },
      { words: ['words'], isPrefix: false },
      { words: ['a', 'phrase'], isPrefix: false },
      { words: ['sta'], isPrefix: true },
      { words: ['last', 'par'], isPrefix: true },
    ]);
  });

  it('takes everything else for a part of a word, or ignores it', () => {
    expect(searchTerms('foo-bar "open * a* NOT')).toEqual([
      { words: ['foo', 'bar'], isPrefix: false },
      { words: ['open'], isPrefix: false },
      { words: ['a'], isPrefix: false },
      { words: ['not'], isPrefix: false },
    ]);
  });

  it.each(['', '   ', '"" * -', '…'])('needs a word: %j', (text) => {
    expect(() => searchTerms(text)).toThrow('needs a word');
  });

  it('has a maximum length', () => {
    expect(() => searchTerms('a'.repeat(257))).toThrow('256 characters');
    expect(() => searchTerms('a '.repeat(20))).toThrow('16 words');
  });
});

describe('a snippet', () => {
  const marked = (said: string, text: string): readonly string[] => {
    const snippet = snippetOf(said, searchTerms(text));
    return snippet.marks.map(([start, end]) => snippet.text.slice(start, end));
  };

  it('marks every place that was found', () => {
    expect(marked('Pay the Café bill.\nThe café is closed', 'cafe bill')).toEqual(['Café', 'bill', 'café']);
    expect(marked('blueberry pie, blue sky', 'blu*')).toEqual(['blueberry', 'blue']);
    expect(marked('a red car, a red door', '"red door"')).toEqual(['red door']);
    expect(marked('東京の天気', '京の')).toEqual(['京の']);
  });

  it('is a short piece around the first place', () => {
    const said = `${'before '.repeat(100)}needle${' after'.repeat(100)}`;
    const { text, marks } = snippetOf(said, searchTerms('needle'));
    expect(text.length).toBeLessThan(200);
    expect(text.startsWith('… before')).toBe(true);
    expect(text.endsWith('after …')).toBe(true);
    expect(marks).toHaveLength(1);
    expect(marked(said, 'needle')).toEqual(['needle']);
  });

  it('is the beginning where nothing is found', () => {
    expect(snippetOf('only these words', searchTerms('other'))).toEqual({ text: 'only these words', marks: [] });
  });

  it('joins places that overlap', () => {
    expect(marked('one two three', '"one two" "two three"')).toEqual(['one two three']);
    expect(marked('one two', 'one "one two" two')).toEqual(['one two']);
  });
});
