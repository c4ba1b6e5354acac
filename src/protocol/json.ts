/** JSON as a type. Values that came off a wire are `unknown` until a dialect has read them. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** An object that came off a wire: nothing is known about its members. */
export type RawObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object and no array: the first check of everything that reads JSON. */
export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: unknown): value is RawObject;
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON text. Throws a SyntaxError. */
export function parseJson(text: string): Json {
  return JSON.parse(text);
}

/** Parses a JSON text that this package wrote itself, in a place that only it writes: the text is not checked. */
export function parseOwnJson<T>(text: string): T {
  return JSON.parse(text);
}

/** Free-form members that A2A carries for others: `metadata`, extension `params`. */
export type Metadata = JsonObject;

/**
 * A protobuf oneof as a type: exactly one member is there, the others can't be.
 * `if (value.task !== undefined)` narrows it; nothing has to sniff with `in`.
 */
export type OneOf<Members> = {
  [Key in keyof Members]: { readonly [Own in Key]: Members[Own] } & {
    readonly [Other in Exclude<keyof Members, Key>]?: never;
  };
}[keyof Members];

/** Closes a union: a member that is added and not handled becomes a type error where this is called. */
export function unreachable(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}

/** JSON that is built member by member. */
export type JsonDraft = { [member: string]: Json };

/** A canonical value as JSON. It is JSON already, but TypeScript's interfaces have no index signature. */
export function jsonOf(value: object): JsonObject {
  return value as JsonObject;
}

/** For building a readonly value member by member before it is handed out. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
