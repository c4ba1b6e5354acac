/**
 * Makes text of an agent safe for a terminal: control characters become visible symbols, so that an answer can't move the cursor, change
 * the title or hide a line (A2A CLI specification §5.1). Newlines and tabs stay.
 */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replaceAll(/\r\n/g, '\n').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, picture);
}

/** The same on one line. */
export function oneLine(text: string): string {
  const lines = text.split(/[\r\n]/);
  if (lines.length === 1) return plain(text);
  const [first = '', ...rest] = lines.filter((line) => line.trim() !== '');
  return plain([first.trimEnd(), ...rest.map((line) => line.trim())].join(' '));
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
