/**
 * Removes terminal escapes and control characters from text that comes in pieces. ECMA-48: CSI is `ESC
 * [` up to a byte from `@` to `~`; OSC, DCS, PM, APC and SOS run to BEL or `ESC \`; any other escape is
 * one more character, after intermediates.
 */
export function ansiStripper(): (text: string) => string {
  let state: State = 'text';
  return (text) => {
    if (state === 'text' && !hasControls(text)) return text;
    let kept = '';
    for (const character of text) {
      const code = character.charCodeAt(0);
      if (state === 'text' && isPlain(code)) kept += character;
      else state = NEXT[state](code);
    }
    return kept;
  };
}

/** For complete text. */
export function stripAnsi(text: string): string {
  return ansiStripper()(text);
}

type State = 'text' | 'escape' | 'control' | 'string' | 'string escape';

const ESC = 0x1b;
const BEL = 0x07;
const OPENS_STRING: ReadonlySet<number> = new Set([0x50, 0x58, 0x5d, 0x5e, 0x5f]); // P X ] ^ _

const NEXT: Readonly<Record<State, (code: number) => State>> = {
  text: (code) => (code === ESC ? 'escape' : code === 0x9b ? 'control' : 'text'),
  escape: (code) => {
    if (code === 0x5b) return 'control';
    if (OPENS_STRING.has(code)) return 'string';
    return code >= 0x20 && code <= 0x2f ? 'escape' : 'text';
  },
  control: (code) => (code >= 0x40 && code <= 0x7e ? 'text' : code === ESC ? 'escape' : 'control'),
  string: (code) => (code === BEL ? 'text' : code === ESC ? 'string escape' : 'string'),
  'string escape': (code) => (code === 0x5c ? 'text' : 'string'),
};

/** Tab, newline and carriage return are text; other C0 and C1 controls and DEL are not. */
function isPlain(code: number): boolean {
  return code >= 0x20 ? code < 0x7f || code > 0x9f : code === 0x09 || code === 0x0a || code === 0x0d;
}

function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (!isPlain(text.charCodeAt(at))) return true;
  return false;
}
