import type { Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';

/** The names in a path of the data model, a JSON Pointer: `/rooms/0/title`. */
function namesIn(path: string): readonly string[] {
  return path
    .split('/')
    .filter((name) => name !== '')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A path without a leading slash begins at the item of a list. */
export function absolutePath(path: string, item: string): string {
  return path.startsWith('/') ? path : `${item}/${path}`;
}

/** The value at a path. */
export function valueAt(data: Json | undefined, path: string): Json | undefined {
  let value = data;
  for (const name of namesIn(path)) {
    if (Array.isArray(value)) value = value[Number(name)];
    else value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** A copy of the data with another value at a path. Undefined removes it. Missing objects on the way are made. */
export function withValue(data: Json, path: string, value: Json | undefined): Json {
  return changed(data, namesIn(path), value) ?? {};
}

const LIST_MAX = 10_000;

function changed(data: Json | undefined, [name, ...rest]: readonly string[], value: Json | undefined): Json | undefined {
  if (name === undefined) return value;
  if (Array.isArray(data)) {
    const at = name === '-' ? data.length : Number(name);
    if (!Number.isInteger(at) || at < 0 || at > Math.min(data.length, LIST_MAX)) return data;
    const inner = changed(data[at], rest, value);
    return inner === undefined ? data.toSpliced(at, 1) : data.toSpliced(at, 1, inner);
  }
  const object: JsonObject = isObject(data) ? data : {};
  const inner = changed(Object.hasOwn(object, name) ? object[name] : undefined, rest, value);
  const others = Object.entries(object).filter(([key]) => key !== name);
  const isAt = Object.keys(object).indexOf(name);
  if (inner === undefined) return Object.fromEntries(others);
  return Object.fromEntries(isAt === -1 ? [...others, [name, inner]] : others.toSpliced(isAt, 0, [name, inner]));
}

/** One of the paths is the other, or contains it. */
export function pathsMeet(one: string, other: string): boolean {
  const [a, b] = [namesIn(one), namesIn(other)];
  return a.every((name, at) => at >= b.length || b[at] === name);
}
