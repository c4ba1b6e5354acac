import { parseOwnJson } from '#protocol';
import type { LogEntry } from '../../ports.ts';

/**
 * Entries as JSON texts, in order. Every full garbage collection visits each object in memory, and an entry is about eight objects but a
 * text is one. The text of a single commit stands alone, because most tasks have no more. Empty: no entries.
 */
export type Texts = string | Segment[];

/** Entries that were committed together. */
interface Segment {
  readonly last: number;
  /** A JSON array. */
  readonly text: string;
}

/** A reader that starts in the middle of a segment parses all of it. */
const ENTRIES_MAX = 256;

/** Texts with more entries. `last`: the last entry of the log so far. */
export function added(texts: Texts, entries: readonly LogEntry[], last: number): Texts {
  if (entries.length === 0) return texts;
  if (texts === '' && entries.length <= ENTRIES_MAX) return JSON.stringify(entries);
  const segments = typeof texts === 'string' ? (texts === '' ? [] : [{ last, text: texts }]) : texts;
  for (let at = 0; at < entries.length; at += ENTRIES_MAX) {
    const portion = entries.slice(at, at + ENTRIES_MAX);
    segments.push({ last: portion.at(-1)?.seq ?? last, text: JSON.stringify(portion) });
  }
  return segments;
}

/** Which entries to read. */
export interface TextRange {
  readonly after: number;
  readonly upTo: number;
  /** Maximum number of entries. */
  readonly limit: number;
  /** Stop after so many characters, but not before an entry was found. */
  readonly charsMax: number;
}

/** Entries of a range, and the last number up to which all of them are here. */
export interface Found {
  readonly entries: readonly LogEntry[];
  readonly upTo: number;
}

/** Reads entries. Finds the first segment by binary search. */
export function entriesIn(texts: Texts, range: TextRange): Found {
  const entries: LogEntry[] = [];
  if (typeof texts === 'string') {
    take(texts, range, entries);
    return { entries, upTo: range.upTo };
  }
  let chars = 0;
  for (let at = firstAfter(texts, range.after); at < texts.length; at += 1) {
    const segment = texts[at];
    if (segment === undefined || entries.length >= range.limit || (entries.at(-1)?.seq ?? 0) >= range.upTo) break;
    if (chars > range.charsMax && entries.length > 0) return { entries, upTo: entries.at(-1)?.seq ?? 0 };
    take(segment.text, range, entries);
    chars += segment.text.length;
  }
  return { entries, upTo: range.upTo };
}

function take(text: string, { after, upTo, limit }: TextRange, into: LogEntry[]): void {
  if (text === '') return;
  for (const entry of parseOwnJson<readonly LogEntry[]>(text)) {
    if (entry.seq > after && entry.seq <= upTo && into.length < limit) into.push(entry);
  }
}

/** The index of the first segment that may have an entry after a position. */
function firstAfter(segments: readonly Segment[], after: number): number {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((segments[middle]?.last ?? 0) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
