import { A2AError } from '#protocol';
import { plainWords } from './words.ts';

/** Words that must follow each other. */
export interface SearchTerm {
  /** At least one, as `plainWords` returns them. */
  readonly words: readonly string[];
  /** The last word is the start of a word. */
  readonly isPrefix: boolean;
}

const CHARS_MAX = 256;
const TERMS_MAX = 16;
/** One letter is the start of too many words. */
const PREFIX_CHARS_MIN = 2;
const TERM = /"([^"]*)"(\*?)|(\S+)/g;

/**
 * Reads what a person typed: words are searched for all together, `"quotes"` enclose a phrase, and a `*` at the end finds every word that
 * starts like that. Everything else is a part of a word or ignored, so no text is a wrong search but one without words.
 */
export function searchTerms(text: string): readonly SearchTerm[] {
  if (text.length > CHARS_MAX) throw new A2AError('INVALID_PARAMS', `a search may have ${CHARS_MAX} characters at most`, { field: 'text' });
  const terms: SearchTerm[] = [];
  for (const [, phrase, star, word] of text.matchAll(TERM)) {
    const words = plainWords(phrase ?? word ?? '')
      .split(' ')
      .filter((each) => each !== '');
    const last = words.at(-1);
    if (last === undefined) continue;
    const isPrefix = (star === '*' || word?.endsWith('*') === true) && last.length >= PREFIX_CHARS_MIN;
    terms.push({ words, isPrefix });
  }
  if (terms.length === 0) throw new A2AError('INVALID_PARAMS', 'a search needs a word with letters or digits', { field: 'text' });
  if (terms.length > TERMS_MAX) throw new A2AError('INVALID_PARAMS', `a search may have ${TERMS_MAX} words at most`, { field: 'text' });
  return terms;
}
