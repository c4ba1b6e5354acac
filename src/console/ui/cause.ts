const NOTE = '. Only callers on this machine see the cause.';

/** What an agent threw, without the words around it: for lists. The page of the task shows all of it. */
export function causeIn(text: string): string {
  return withoutNote(text).replace(/^The agent failed: (?:Error: )?/, '');
}

/** Without the note, and without the place in the code before it. */
function withoutNote(text: string): string {
  if (!text.endsWith(NOTE)) return text;
  const told = text.slice(0, -NOTE.length);
  const place = told.lastIndexOf(', at ');
  return place === -1 || told.includes('\n', place) ? told : told.slice(0, place);
}
