// `Object.keys` and its relatives with the types of objects whose members are all known: tables that are written out in the code.

/** The names of the members of a table. */
export function keysOf<Key extends string>(table: Readonly<Partial<Record<Key, unknown>>>): readonly Key[] {
  return Object.keys(table) as Key[];
}

/** The members of a table, each with its name. */
export function entriesOf<Key extends string, Value>(table: Readonly<Partial<Record<Key, Value>>>): readonly (readonly [Key, Value])[] {
  return Object.entries(table) as [Key, Value][];
}

/** A table of all the names in `keys`. */
export function tableOf<Key extends string, Value>(keys: readonly Key[], make: (key: Key) => Value): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<Key, Value>;
}

/** Whether a table has a member of this name. Inherited names such as `constructor` are none. */
export function isKeyOf<Key extends string>(table: Readonly<Record<Key, unknown>>, name: string): name is Key {
  return Object.hasOwn(table, name);
}

/**
 * A copy without the members that are undefined: `exactOptionalPropertyTypes` forbids to assign
 * undefined to an optional member.
 */
export function withoutUndefined<T extends object>(members: { readonly [Key in keyof T]: T[Key] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** Whether a set contains the value. Narrows the value's type, which `Set.has` does not. */
export function isMemberOf<T>(known: ReadonlySet<T>, value: unknown): value is T {
  const all: ReadonlySet<unknown> = known;
  return all.has(value);
}

/** The members of a value of unknown shape; none if it is not an object. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
