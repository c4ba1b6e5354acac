import type { Dialect, Hints } from './dialect.ts';
import type { Registry } from './registry.ts';

/**
 * Who answers a request that no dialect knows for its own: an unknown method, a body that can't be read, a wrong content
 * type. The first row that fits wins; `path` and `method` absent fit everything. `A2A-Version` is sent by the official clients
 * and by Cortex, so it tells an unreadable 1.0 request on `/` from one of Society's, and on 0.3's path from one of 0.3 (A2A
 * 1.0.1 §3.6.2: no version is 0.3), whose clients are told of bad JSON by a 400 (reference/dialects §2b).
 */
const ANSWERS: readonly { readonly path?: string; readonly method?: RegExp; readonly versioned?: boolean; readonly dialect: string }[] = [
  { path: '/api/a2a', dialect: 'cortex' },
  { method: /^[A-Z]/, dialect: 'v10' },
  { path: '/', versioned: false, dialect: 'society' },
  { path: '/a2a/jsonrpc', versioned: false, dialect: 'v03' },
  { method: /\//, dialect: 'v03' },
  { dialect: 'v10' },
];

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
