import type { AdminSnippet } from '#protocol';
import type { SearchTerm } from './terms.ts';
import type { FoundWord } from './words.ts';
import { wordsIn } from './words.ts';

/** Characters before the first word that was found, and in all. */
const BEFORE = 60;
const LENGTH = 180;

/** The place of a text where a search is found, with marks on the words. The beginning of the text if it is nowhere. */
export function snippetOf(said: string, terms: readonly SearchTerm[]): AdminSnippet {
  const text = said.replace(/\s+/g, ' ').trim();
  const words = [...wordsIn(text)];
  const found = terms.flatMap((term) => placesOf(term, words)).sort((left, right) => left.start - right.start);
  const from = startOf(text, words, found[0]?.start ?? 0);
  const to = endOf(text, words, from + LENGTH);
  const lead = from > 0 ? '… ' : '';
  const marks: [number, number][] = [];
  for (const { start, end } of found) {
    const last = marks.at(-1);
    const [left, right] = [start - from + lead.length, end - from + lead.length];
    if (start < from || end > to || (last !== undefined && right <= last[1])) continue;
    if (last !== undefined && left <= last[1]) last[1] = right;
    else marks.push([left, right]);
  }
  return { text: `${lead}${text.slice(from, to)}${to < text.length ? ' …' : ''}`, marks };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Where the words of a term follow each other. */
function placesOf({ words, isPrefix }: SearchTerm, text: readonly FoundWord[]): readonly Place[] {
  const places: Place[] = [];
  const last = words.length - 1;
  for (let at = 0; at + last < text.length; at += 1) {
    const isHere = words.every((word, n) => {
      const found = text[at + n]?.word ?? '';
      return found === word || (isPrefix && n === last && found.startsWith(word));
    });
    const [first, end] = [text[at], text[at + last]];
    if (isHere && first !== undefined && end !== undefined) places.push({ start: first.start, end: end.end });
  }
  return places;
}

/** The start of a word, some words before a place. */
function startOf(text: string, words: readonly FoundWord[], place: number): number {
  if (place <= BEFORE) return 0;
  const from = place - BEFORE;
  const start = words.find(({ start }) => start >= from)?.start ?? place;
  // Keep a quote or a bracket before the word.
  return start > 0 && /[\p{Ps}\p{Pi}"']/u.test(text[start - 1] ?? '') ? start - 1 : start;
}

/** The end of a word, at or before a place. A word that is longer than that is cut. */
function endOf(text: string, words: readonly FoundWord[], place: number): number {
  if (place >= text.length) return text.length;
  const cut = words.find(({ start, end }) => start < place && end > place);
  const to = cut === undefined || cut.start < place - LENGTH / 2 ? place : cut.start;
  return text.slice(0, to).trimEnd().length;
}
