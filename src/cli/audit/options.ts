import type { AuditRecord } from '#protocol';
import { CliError } from '../command.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { switchOf, textOf } from '../flags/parse.ts';

/** What `parley audit tail` is asked for. */
export interface TailOptions {
  readonly count: number;
  readonly json: boolean;
  readonly follow: boolean;
}

export function tailIn(flags: ParsedFlags): TailOptions {
  const count = textOf(flags, 'count') ?? '20';
  if (!/^\d{1,9}$/.test(count)) throw wrongCall(`-n ${count}: must be a number`);
  return { count: Number(count), json: switchOf(flags, 'json'), follow: switchOf(flags, 'follow') };
}

/** Which records `parley audit export` prints. Times are in milliseconds. */
export interface ExportRange {
  /** Only records with a higher number. */
  readonly after: number;
  readonly since: number;
  readonly until: number;
}

export function rangeIn(flags: ParsedFlags): ExportRange {
  const after = textOf(flags, 'after') ?? '0';
  if (!/^\d{1,15}$/.test(after)) throw wrongCall(`--after ${after}: must be a number`);
  return { after: Number(after), since: timeIn(flags, 'since') ?? 0, until: timeIn(flags, 'until') ?? Number.POSITIVE_INFINITY };
}

export function isWithin({ seq, time }: AuditRecord, { after, since, until }: ExportRange): boolean {
  const at = Date.parse(time);
  return seq > after && at >= since && at < until;
}

function timeIn(flags: ParsedFlags, name: string): number | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw wrongCall(`--${name} ${text}: must be a time such as 2026-03-12T08:30:00Z`);
  return at;
}

export function wrongCall(words: string): CliError {
  return new CliError(words, { hint: 'try: parley help audit', exit: 2 });
}
