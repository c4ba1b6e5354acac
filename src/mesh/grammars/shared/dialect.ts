import type { Dialect } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';

const registry = createRegistry(DIALECTS);

/** The dialect in which a grammar writes its payloads. */
export function requireDialect(id: string): Dialect {
  const dialect = registry.byId(id);
  if (dialect === undefined) throw new Error(`the dialect ${id} does not exist`);
  return dialect;
}
