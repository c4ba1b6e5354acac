import type { Json, JsonObject } from '#protocol';

/**
 * The object in a line, or undefined: every CLI prints banners and update notices between its events.
 * Lone surrogates, which JSON allows in escapes and UTF-8 does not, are replaced, because they can't be
 * stored.
 */
export function objectIn(line: string): JsonObject | undefined {
  if (!line.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line, /\\u[dD][89a-fA-F]/.test(line) ? wellFormed : undefined);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member that is an object, or an empty one. */
export function objectAt(value: JsonObject | undefined, name: string): JsonObject {
  const member = value?.[name];
  return isJsonObject(member) ? member : {};
}

export function textAt(value: JsonObject | undefined, name: string): string | undefined {
  const member = value?.[name];
  return typeof member === 'string' ? member : undefined;
}

export function numberAt(value: JsonObject | undefined, name: string): number | undefined {
  const member = value?.[name];
  return typeof member === 'number' && Number.isFinite(member) ? member : undefined;
}

/** The objects of a list. */
export function objectsAt(value: JsonObject | undefined, name: string): readonly JsonObject[] {
  const member = value?.[name];
  return Array.isArray(member) ? member.filter(isJsonObject) : [];
}

/** An object without the members that are undefined. */
export function compact(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
