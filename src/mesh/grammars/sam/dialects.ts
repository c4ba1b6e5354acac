import type { Dialect, RawObject } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';

const registry = createRegistry(DIALECTS);

function known(id: string): Dialect {
  const dialect = registry.byId(id);
  if (dialect === undefined) throw new Error(`there is no dialect ${id}`);
  return dialect;
}

export const WIRE: Dialect = known('sam');
export const DOCUMENTED: Dialect = known('sam.documented');

export function dialectOf(id: string): Dialect {
  return id === DOCUMENTED.id ? DOCUMENTED : WIRE;
}

/** Which of its two spellings a request is in; it is answered in the same. */
export function spellingOf({ method, params }: RawObject): Dialect {
  if (typeof method !== 'string' || method === 'tasks/cancel') return WIRE;
  return DOCUMENTED.detect({ path: '/', method, params }) === 'no' ? WIRE : DOCUMENTED;
}
