import type { Dialect } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';

const everyDialect = createRegistry(DIALECTS);

/** One of this package's own dialects. Loads all of them, so the part of the client that every program has must not import this. */
export function dialectNamed(id: string): Dialect {
  const dialect = everyDialect.byId(id);
  if (dialect === undefined) throw new Error(`no dialect ${id}`);
  return dialect;
}
