import type { AdminLogLine } from '#protocol';
import { plain } from './plain-text.ts';
import type { LoggedError } from './readable-stack.ts';
import { readableStack } from './readable-stack.ts';

/** How log lines look on this terminal. */
export interface ReadableLogOptions {
  readonly coloured: boolean;
  readonly cwd: string;
}

type LogLine = Omit<AdminLogLine, 'n'>;

/** The message of the lines that `parley dev` writes for each call. */
export const CALL = 'call';

const COLOURS = { dim: '\u001b[2m', error: '\u001b[31m', warn: '\u001b[33m', good: '\u001b[32m' } as const;
const RESET = '\u001b[0m';

/** The command says these in its own words on the terminal. */
const IN_OTHER_WORDS = /^the node (?:starts|is ready|drains|has stopped)/;

/** A log line for people: the time, what happened, its facts, and the user's part of a stack. */
export function readableLog({ coloured, cwd }: ReadableLogOptions): (line: LogLine) => string | undefined {
  const paint = (text: string, tone: keyof typeof COLOURS): string => (coloured ? `${COLOURS[tone]}${text}${RESET}` : text);
  return (line) => {
    const { time, level, message, fields = {} } = line;
    if (IN_OTHER_WORDS.test(message)) return undefined;
    const clock = paint(clockOf(time), 'dim');
    if (message === CALL) return `${clock}  ${callText(fields, paint)}`;
    const { cause, ...facts } = fields;
    const label = level === 'error' ? paint('error ', 'error') : level === 'warn' ? paint('warning ', 'warn') : '';
    const rest = Object.entries(facts).map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
    const head = `${clock}  ${label}${plain(message)}${paint(plain(rest.join('')), 'dim')}`;
    return cause === undefined ? head : `${head}\n${indented(causeText(cause, cwd))}`;
  };
}

/** Who, dialect, operation, agent, state, time. */
function callText(fields: NonNullable<LogLine['fields']>, paint: (text: string, tone: keyof typeof COLOURS) => string): string {
  const text = (name: string): string => (typeof fields[name] === 'string' ? plain(fields[name]) : '');
  const [outcome, state] = [text('outcome'), text('state')];
  const isBad = outcome !== 'ok' || /failed|rejected/.test(state);
  const end = outcome === 'ok' ? state || 'ok' : outcome;
  const columns = [text('who').padEnd(8), text('dialect').padEnd(8), text('operation').padEnd(9), text('agent').padEnd(12)];
  return `${columns.filter((column) => column.trim() !== '').join(' ')} ${paint(end, isBad ? 'error' : 'good')} ${paint(`${Number(fields['ms'] ?? 0)} ms`, 'dim')}`;
}

function causeText(cause: unknown, cwd: string): string {
  return typeof cause === 'object' && cause !== null ? readableStack(cause satisfies LoggedError, cwd) : plain(String(cause));
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}

/** The local time of day. */
function clockOf(time: string): string {
  const at = new Date(time);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
