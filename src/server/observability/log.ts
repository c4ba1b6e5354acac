import type { AdminLogLine, Json, JsonObject } from '#protocol';

/** From the most detailed to none at all. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** One of `LOG_LEVELS`. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A structured log with one line per event. `cause` is the caught error itself. */
export interface Log {
  /** Details for finding a fault. */
  debug(message: string, fields?: Fields): void;
  /** An event of normal work, for example that tasks were recovered. */
  info(message: string, fields?: Fields): void;
  /** Something unexpected that the node could handle. */
  warn(message: string, fields?: Fields): void;
  /** A failure that an operator should know about. */
  error(message: string, cause?: unknown, fields?: Fields): void;
  /** Whether lines of this level are written, to save the work of building one. */
  isOn(level: LogLevel): boolean;
  /** The newest lines after that number, at most `limit`. Absent if the log keeps none. */
  recent?(after: number, limit: number): readonly AdminLogLine[];
}

/** Facts beside the message. Undefined values are left out. */
export type Fields = Readonly<Record<string, Json | undefined>>;

/** Options of `createLog`. */
export interface LogOptions {
  /** The least important level to write, or a function that returns it. Default `info`. */
  readonly level?: LogLevel | (() => LogLevel);
  /** Receives complete lines, each with its newline. */
  readonly write: (line: string) => void;
  /** Texts that are removed from every line, for example tokens from the configuration. */
  readonly secrets?: readonly string[];
  /** Turns a line into text for people. Undefined: the line is not written. Default: JSON. */
  readonly format?: (line: Omit<AdminLogLine, 'n'>) => string | undefined;
  /** Called with each line, also with one that `format` drops. */
  readonly onLine?: (line: Omit<AdminLogLine, 'n'>) => void;
  /** Facts that every line has. */
  readonly fields?: Fields;
  readonly now?: () => Date;
}

/**
 * Writes the log as JSON lines. Values whose key is named like a credential, and texts that look like
 * one, are replaced by `[removed]`.
 *
 * ```ts
 * const log = createLog({ level: 'debug', write: (line) => process.stderr.write(line) });
 * ```
 */
export function createLog({
  level = 'info',
  write,
  secrets = [],
  format,
  onLine,
  fields: always,
  now = () => new Date(),
}: LogOptions): Log {
  const least = typeof level === 'function' ? (): number => LOG_LEVELS.indexOf(level()) : constant(LOG_LEVELS.indexOf(level));
  const isOn = (wanted: LogLevel): boolean => LOG_LEVELS.indexOf(wanted) >= least();
  const kept: string[] = [];
  let written = 0;
  const known = secrets.filter((secret) => secret.length >= 4);
  const say = (at: LogLevel, message: string, fields: Fields = {}): void => {
    if (!isOn(at)) return;
    // JSON escapes line breaks, so a caller can't forge log lines.
    const line = JSON.stringify({ time: now().toISOString(), level: at, message, ...always, ...fields }, cleaned);
    const clean = known.reduce((text, secret) => text.replaceAll(secret, REMOVED), line);
    kept[written % LINES_KEPT] = clean;
    written += 1;
    onLine?.(lineOf(written, clean));
    const text = format === undefined ? clean : format(lineOf(written, clean));
    if (text !== undefined) write(`${text}\n`);
  };
  return {
    debug: (message, fields) => say('debug', message, fields),
    info: (message, fields) => say('info', message, fields),
    warn: (message, fields) => say('warn', message, fields),
    error: (message, cause, fields) => say('error', message, cause === undefined ? fields : { ...fields, cause: described(cause) }),
    isOn,
    recent: (after, limit) => {
      const from = Math.max(after, written - Math.min(limit, LINES_KEPT), 0);
      return Array.from({ length: Math.max(0, written - from) }, (_, at) => lineOf(from + at + 1, kept[(from + at) % LINES_KEPT] ?? '{}'));
    },
  };
}

function constant(value: number): () => number {
  return () => value;
}

/** Writes nothing. */
export const SILENT: Log = createLog({ level: 'silent', write: () => {} });

/** How many lines are kept for the console. */
const LINES_KEPT = 1000;

function lineOf(n: number, text: string): AdminLogLine {
  const { time, level, message, ...fields } = JSON.parse(text) as { time: string; level: string; message: string } & JsonObject;
  return { n, time, level, message, ...(Object.keys(fields).length === 0 ? {} : { fields }) };
}

const REMOVED = '[removed]';
const SECRET_NAME = /^(?:authorization|proxy-authorization|cookie|set-cookie|credentials?)$|token|secret|passw|api-?key|private-?key/i;
/**
 * `Bearer …` and `Basic …`, JSON Web Tokens (and other base64 of JSON), keys with a well-known prefix,
 * a password in a URL.
 */
const SECRET_TEXT =
  /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}|\beyJ[\w.-]{8,}|\b(?:sk|pk|ghp|gho|xox[abp])[-_][\w-]{8,}|(?<=:\/\/)[^\s/:@]*:[^\s/@]+(?=@)/gi;

/** A JSON member whose value is a string, possibly cut off. */
const NAMED = /"([^"\\]{1,64})"\s*:\s*"(?:[^"\\]|\\.)*"?/g;

/** A replacer for `JSON.stringify` that removes everything that is named or looks like a credential. */
export function cleaned(name: string, value: unknown): unknown {
  if (typeof value === 'string') return SECRET_NAME.test(name) ? REMOVED : value.replaceAll(SECRET_TEXT, REMOVED);
  return value !== null && typeof value === 'object' && SECRET_NAME.test(name) ? REMOVED : value;
}

/** The same for a text that is not complete JSON. */
export function cleanedText(text: string): string {
  const named = text.replaceAll(NAMED, (whole, name: string) => (SECRET_NAME.test(name) ? `"${name}":"${REMOVED}"` : whole));
  return named.replaceAll(SECRET_TEXT, REMOVED);
}

/** An error as JSON, with at most five levels of causes. */
function described(cause: unknown, depth = 0): Json {
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : String(cause);
  const inner = cause.cause === undefined || depth > 4 ? {} : { cause: described(cause.cause, depth + 1) };
  return { name: cause.name, message: cause.message, stack: cause.stack ?? '', ...inner };
}
