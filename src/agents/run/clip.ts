import type { Json } from '#protocol';

/** At most `max` characters, with an ellipsis at the end if something is left out. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}

/** Clips every text in the value. */
export function clipJson(value: Json, max: number): Json {
  if (typeof value === 'string') return clip(value, max);
  if (Array.isArray(value)) return value.map((item: Json) => clipJson(item, max));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clipJson(member, max)]));
}

/**
 * One line for people to decide by: without terminal escapes, line breaks, and marks that change the
 * direction of text.
 */
export function oneLine(text: string, max: number): string {
  const shown = text
    .replaceAll(/[\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return clip(shown, max);
}
