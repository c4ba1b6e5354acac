import type { Registry } from './create-registry.ts';
import type { Dialect, Hints } from './dialect.ts';

/**
 * The dialect in which to answer a request that no dialect recognises: an unknown method, an unreadable
 * body, a wrong content type. The first matching row wins; an absent `path` or `method` matches
 * everything. The official clients and Cortex send `A2A-Version`. So the header tells an unreadable 1.0
 * request on `/` from one of Society, and on 0.3's path from one of 0.3 (A2A 1.0.1 §3.6.2: no version
 * means 0.3), whose clients expect HTTP 400 for bad JSON (docs/dialects/v03.md, "Errors").
 */
const ANSWERS: readonly { readonly path?: string; readonly method?: RegExp; readonly versioned?: boolean; readonly dialect: string }[] = [
  { path: '/api/a2a', dialect: 'cortex' },
  { method: /^[A-Z]/, dialect: 'v10' },
  { path: '/', method: /^message\//, versioned: false, dialect: 'v03' },
  { path: '/', versioned: false, dialect: 'society' },
  { path: '/a2a/jsonrpc', versioned: false, dialect: 'v03' },
  { method: /\//, dialect: 'v03' },
  { dialect: 'v10' },
];

/** The dialect for an error response to a request that no dialect recognises. */
export function answeringDialect(registry: Registry, hints: Hints): Dialect {
  for (const row of ANSWERS) {
    if (row.path !== undefined && row.path !== hints.path) continue;
    if (row.method !== undefined && !row.method.test(hints.method ?? '')) continue;
    if (row.versioned !== undefined && row.versioned !== (hints.version !== undefined)) continue;
    const dialect = registry.byId(row.dialect);
    if (dialect !== undefined) return dialect;
  }
  const [first] = registry.all;
  if (first === undefined) throw new Error('a registry needs at least one dialect');
  return first;
}
