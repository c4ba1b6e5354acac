/**
 * Names that callers choose may hold anything that JSON can express, including unpaired surrogates.
 * UTF-8 can't encode those and would make different names equal, so such a name is stored as JSON after
 * a marker character.
 */
const MARK = '\uffff';

/** The form of a name in the database. */
export function toText(name: string): string {
  return name.isWellFormed() && !name.startsWith(MARK) ? name : MARK + JSON.stringify(name);
}

/** The name that `toText` stored. */
export function fromText(text: string): string {
  return text.startsWith(MARK) ? String(JSON.parse(text.slice(1))) : text;
}
