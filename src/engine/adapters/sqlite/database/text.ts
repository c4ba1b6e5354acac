/**
 * SendNames that callers choose may be anything that JSON can spell, halves of surrogate pairs included. UTF-8 has no bytes for those
 * and would make different names the same, so such a name is kept as JSON behind a mark.
 */
const MARK = '\uffff';

export function toText(name: string): string {
  return name.isWellFormed() && !name.startsWith(MARK) ? name : MARK + JSON.stringify(name);
}

export function fromText(text: string): string {
  return text.startsWith(MARK) ? String(JSON.parse(text.slice(1))) : text;
}
