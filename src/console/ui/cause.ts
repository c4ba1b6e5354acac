const NOTE = '. Only callers on this machine see the cause.';
const AT = ', at ';

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
  if (!text.endsWith(NOTE)) return { words: withoutCutPlace(text), place: '' };
  const told = text.slice(0, -NOTE.length);
  const at = told.lastIndexOf(AT);
  if (at === -1 || told.includes('\n', at)) return { words: told, place: '' };
  return { words: told.slice(0, at), place: told.slice(at + 2) };
}

/** Lists have the start of the text only: what is left of the note and of the place at its end. */
function withoutCutPlace(text: string): string {
  if (!text.endsWith('…')) return text;
  const told = text.slice(0, -1);
  const note = Array.from({ length: NOTE.length - 1 }, (_, at) => NOTE.slice(0, NOTE.length - 1 - at)).find((start) =>
    told.endsWith(start),
  );
  const cut = note === undefined || note.length < NOTE_CHARS_MIN ? told : told.slice(0, -note.length);
  const at = cut.lastIndexOf(AT);
  const place = at === -1 ? '' : cut.slice(at + AT.length);
  const isPlace = !place.includes(',') && ['file://', 'node:', '('].some((sign) => place.includes(sign));
  return isPlace ? cut.slice(0, at) : cut === told ? text : cut;
}

/** A shorter start of the note may be the end of any sentence. */
const NOTE_CHARS_MIN = 6;
