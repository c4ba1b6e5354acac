/** JSON as a type. Values that came off a wire are `unknown` until a dialect has read them. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object. Its members are readonly; build one with `JsonDraft`. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** An object that came off a wire: nothing is known about its members. */
export type RawObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: not null and not an array. */
export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: unknown): value is RawObject;
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON text. Throws a SyntaxError. */
export function parseJson(text: string): Json {
  return JSON.parse(text);
}

/**
 * Parses a JSON text that this package wrote itself, in a place that only it writes: the text is not
 * checked.
 */
export function parseOwnJson<T>(text: string): T {
  return JSON.parse(text);
}

/** Free-form members that A2A carries for others: `metadata`, extension `params`. */
export type Metadata = JsonObject;

/**
 * A protobuf `oneof` as a type: exactly one of the members is present. `if (value.task !== undefined)`
 * narrows it, so no code has to test with `in`.
 */
export type OneOf<Members> = {
  [Key in keyof Members]: { readonly [Own in Key]: Members[Own] } & {
    readonly [Other in Exclude<keyof Members, Key>]?: never;
  };
}[keyof Members];

/**
 * Ends a `switch` over a union. A union member that is added later and not handled becomes a type error
 * at the call.
 */
export function unreachable(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}

/** A JSON object while it is built member by member. */
export type JsonDraft = { [member: string]: Json };

/**
 * A canonical value, typed as JSON. Changes nothing at run time: TypeScript interfaces have no index
 * signature and so are not assignable to `JsonObject`.
 */
export function jsonOf(value: object): JsonObject {
  return value as JsonObject;
}

/** The same type without `readonly`, for building a value before it is returned. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
