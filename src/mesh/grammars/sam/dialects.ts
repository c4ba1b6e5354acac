import type { Dialect, RawObject } from '#protocol';
import { requireDialect } from '../shared/dialect.ts';

/** What SAM's own programs send. */
export const WIRE: Dialect = requireDialect('sam');
/** What SAM's documentation shows. */
export const DOCUMENTED: Dialect = requireDialect('sam.documented');

export function dialectOf(id: string): Dialect {
  return id === DOCUMENTED.id ? DOCUMENTED : WIRE;
}

/** The spelling of a request. The response is written in the same one. */
export function spellingOf({ method, params }: RawObject): Dialect {
  if (typeof method !== 'string' || method === 'tasks/cancel') return WIRE;
  return DOCUMENTED.detect({ path: '/', method, params }) === 'no' ? WIRE : DOCUMENTED;
}
