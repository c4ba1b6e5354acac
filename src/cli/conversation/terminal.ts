import { plain } from '../output/plain-text.ts';
import { wordWrap } from './wrap.ts';

/** Output for people: the answer on standard output, the progress on one line of standard error. */
export interface Screen {
  /** Prints text of the agent. */
  say(text: string): void;
  /** Ends the current line of the answer. */
  endLine(): void;
  /** Shows the progress; undefined clears it. Only on a terminal. */
  status(text: string | undefined): void;
  /** Prints a line of the command itself. */
  note(text: string, kind?: Kind): void;
  /** Clears the progress and ends the line, for a prompt. */
  clear(): void;
}

export type Kind = 'plain' | 'good' | 'bad' | 'dim';

const COLOURS: Readonly<Record<Kind, string>> = { plain: '', good: '\u001b[32m', bad: '\u001b[31m', dim: '\u001b[2m' };
const RESET = '\u001b[0m';
const CLEAR = '\r\u001b[K';
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;

/** The streams and properties of the terminal. */
export interface Terminal {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** NO_COLOR switches colours off (https://no-color.org). A dumb terminal gets text only. */
export function openScreen({ out, err, env }: Terminal = { out: process.stdout, err: process.stderr, env: process.env }): Screen {
  const live = err.isTTY === true && env['TERM'] !== 'dumb';
  const coloured = live && (env['NO_COLOR'] ?? '') === '';
  let atStart = true;
  let shown: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;
  const draw = (): void => {
    // On one terminal the progress would appear in the middle of the answer.
    if (shown === undefined || (!atStart && out.isTTY === true)) return;
    frame += 1;
    const width = Math.max(20, (err.columns || 80) - 4);
    err.write(`${CLEAR}${paint(`${FRAMES[frame % FRAMES.length]} ${shown.slice(0, width)}`, 'dim')}`);
  };
  const wipe = (): void => {
    if (live && shown !== undefined && (atStart || out.isTTY !== true)) err.write(CLEAR);
  };
  const paint = (text: string, kind: Kind): string => (coloured && kind !== 'plain' ? `${COLOURS[kind]}${text}${RESET}` : text);
  const wrap = out.isTTY === true ? wordWrap(() => out.columns || 80) : undefined;
  const endLine = (): void => {
    if (wrap !== undefined) out.write(wrap.flush(true));
    if (!atStart) out.write('\n');
    atStart = true;
  };
  return {
    endLine,
    say: (text) => {
      if (text === '') return;
      wipe();
      out.write(wrap === undefined ? plain(text) : wrap.add(plain(text)));
      atStart = text.endsWith('\n');
    },
    status: (text) => {
      if (!live) return;
      wipe();
      shown = text === undefined ? undefined : plain(text).replaceAll(/\s+/g, ' ');
      clearInterval(timer);
      if (shown === undefined) return;
      draw();
      timer = setInterval(draw, FRAME_MS).unref();
    },
    note: (text, kind = 'plain') => {
      wipe();
      if (out.isTTY === true && err.isTTY === true) endLine();
      err.write(`${paint(plain(text), kind)}\n`);
      draw();
    },
    clear: () => {
      wipe();
      shown = undefined;
      clearInterval(timer);
      endLine();
    },
  };
}

/** Only notes, on standard error. For scripts, which read the labelled result. */
export const notesOnly: Screen = {
  say: () => undefined,
  endLine: () => undefined,
  status: () => undefined,
  note: (text) => void process.stderr.write(`${plain(text)}\n`),
  clear: () => undefined,
};

/** No output. For programs, which read only the result. */
export const silentScreen: Screen = {
  say: () => undefined,
  endLine: () => undefined,
  status: () => undefined,
  note: () => undefined,
  clear: () => undefined,
};
