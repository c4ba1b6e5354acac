const NOTE = '. Only callers on this machine see the cause.';

/** What an agent threw, without the words around it: for lists. The page of the task shows all of it. */
export function causeIn(text: string): string {
  return withoutPlace(text).words.replace(/^The agent failed: (?:Error: )?/, '');
}

/** What an agent said when it failed. */
export interface FailureWords {
  readonly words: string;
  /** The lines after the first one, and the place in the code. */
  readonly rest: string;
  /** Callers on other machines do not see the cause. */
  readonly isOnlyHere: boolean;
}

/** The parts of what an agent said when it failed. */
export function failureIn(text: string): FailureWords {
  const { words, place } = withoutPlace(text);
  const [first = '', ...lines] = words.split('\n');
  return {
    words: first.replace(/^The agent failed: Error: /, 'The agent failed: '),
    rest: [...lines, ...(place === '' ? [] : [place])].join('\n'),
    isOnlyHere: text.endsWith(NOTE),
  };
}

/** The text without the note at its end, and without the place in the code before that. */
function withoutPlace(text: string): { readonly words: string; readonly place: string } {
  if (!text.endsWith(NOTE)) return { words: text, place: '' };
  const told = text.slice(0, -NOTE.length);
  const at = told.lastIndexOf(', at ');
  if (at === -1 || told.includes('\n', at)) return { words: told, place: '' };
  return { words: told.slice(0, at), place: told.slice(at + 2) };
}
