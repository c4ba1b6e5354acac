import type { Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';
import { WorkflowError } from './definition.ts';

/** The value of the first of these names that is set: members have several spellings. */
export function member(given: JsonObject, ...names: readonly string[]): Json | undefined {
  const name = names.find((candidate) => given[candidate] !== undefined && given[candidate] !== null);
  return name === undefined ? undefined : given[name];
}

/** A JSON object, or an error that names its place. */
export function object(raw: Json | undefined, path: string): JsonObject {
  if (!isObject(raw)) throw new WorkflowError(path, 'must be an object');
  return raw;
}

/** A list, or an error that names its place. */
export function list(raw: Json | undefined, path: string): readonly Json[] {
  if (!Array.isArray(raw)) throw new WorkflowError(path, 'must be a list');
  return raw;
}

/** A text, or an error that names its place. */
export function text(raw: Json | undefined, path: string): string {
  if (typeof raw !== 'string' || raw === '') throw new WorkflowError(path, 'must be a non-empty string');
  return raw;
}

/** A text that may be missing. */
export function textIf(raw: Json | undefined, path: string): string | undefined {
  return raw === undefined || raw === null ? undefined : text(raw, path);
}

/** A number that may be missing. */
export function number(raw: Json | undefined, path: string): number | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (typeof raw !== 'number' || !Number.isFinite(raw) || raw < 0) throw new WorkflowError(path, 'must be a number of at least 0');
  return raw;
}

/** A boolean that may be missing. */
export function boolean(raw: Json | undefined, path: string): boolean | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (typeof raw !== 'boolean') throw new WorkflowError(path, 'must be true or false');
  return raw;
}

const UNITS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `30s`, `5m`, `1h`. */
export function duration(raw: Json | undefined, path: string): number | undefined {
  if (raw === undefined || raw === null) return undefined;
  const [, count, unit] = (typeof raw === 'string' ? /^(\d{1,9})([smh])$/.exec(raw) : null) ?? [];
  if (count === undefined) throw new WorkflowError(path, 'must be a duration such as 30s, 5m or 1h');
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}
