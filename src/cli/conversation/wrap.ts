/** Breaks streamed text at words. */
export interface WordWrap {
  /** The text to print now. The last word waits until its end is known. */
  add(text: string): string;
  /** The word that waits. Starts a new line if `isEnd`. */
  flush(isEnd?: boolean): string;
}

/** A longer word is printed as it comes. Languages without spaces have such words. */
const WORD_MAX = 40;

/** `columns` is asked for each word, because the terminal can be resized. */
export function wordWrap(columns: () => number): WordWrap {
  let column = 0;
  let word = '';
  let gap = '';
  const place = (): string => {
    if (word === '') return '';
    const breaks = column > 0 && column + gap.length + word.length > columns();
    const out = breaks ? `\n${word}` : `${gap}${word}`;
    column = breaks ? word.length : column + gap.length + word.length;
    [word, gap] = ['', ''];
    return out;
  };
  const character = (each: string): string => {
    if (each === '\n') {
      const out = `${place()}\n`;
      [column, gap] = [0, ''];
      return out;
    }
    if (each === ' ' || each === '\t') {
      const out = place();
      gap += each;
      return out;
    }
    word += each;
    return word.length >= WORD_MAX ? place() : '';
  };
  return {
    add: (text) => [...text].map(character).join(''),
    flush: (isEnd = false) => {
      const out = place();
      if (isEnd) [column, gap] = [0, ''];
      return out;
    },
  };
}
