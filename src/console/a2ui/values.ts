import type { Json } from '#protocol';
import { isObject } from '#protocol';
import { catalogFunction } from './functions.ts';
import { absolutePath, valueAt } from './paths.ts';

/** Where the values of a component come from. */
export interface SurfaceScope {
  readonly data: Json;
  /** The path of the item that a component of a list is drawn for. Empty outside of lists. */
  readonly item: string;
}

const DEPTH_MAX = 16;

/** A value of a component: itself, a value of the data model, or the result of a function. */
export function resolved(value: Json | undefined, scope: SurfaceScope, depth = 0): Json | undefined {
  if (!isObject(value) || depth > DEPTH_MAX) return value;
  if (typeof value['path'] === 'string') return valueAt(scope.data, absolutePath(value['path'], scope.item));
  if (typeof value['call'] !== 'string') return value;
  const args = isObject(value['args']) ? value['args'] : {};
  const given = Object.fromEntries(Object.entries(args).map(([name, each]) => [name, argument(each, scope, depth)]));
  return catalogFunction(value['call'], given, (path) => words(valueAt(scope.data, absolutePath(path, scope.item))));
}

function argument(value: Json, scope: SurfaceScope, depth: number): Json {
  if (Array.isArray(value)) return value.map((each: Json): Json => resolved(each, scope, depth + 1) ?? null);
  return resolved(value, scope, depth + 1) ?? null;
}

/** The items of a list. Empty: it is none. */
export function itemsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A value as people read it. */
export function words(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The messages of the checks that fail. */
export function failedChecks(checks: Json | undefined, scope: SurfaceScope): readonly string[] {
  return itemsOf(checks).flatMap((check) =>
    isObject(check) && resolved(check['condition'], scope) === false ? [words(check['message'])] : [],
  );
}
