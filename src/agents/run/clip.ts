import type { Json } from '#protocol';

/** At most so many characters, the last of them an ellipsis if something is left out. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}

/** The same for every text in it. */
export function clipJson(value: Json, max: number): Json {
  if (typeof value === 'string') return clip(value, max);
  if (Array.isArray(value)) return value.map((item: Json) => clipJson(item, max));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clipJson(member, max)]));
}

/**
 * One line that people decide by: no terminal escapes, no line breaks, and none of the marks that make text read in another
 * direction than it is.
 */
export function oneLine(text: string, max: number): string {
  const shown = text
    .replaceAll(/[\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return clip(shown, max);
}
