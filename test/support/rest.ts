import type { Json, Operation, RestGrammar, RestRoute } from '#protocol';
import type { Exchange } from './corpus.ts';

type Members = Readonly<Record<string, unknown>>;
type Recorded = NonNullable<Exchange['rest']>;

/** The request of an HTTP+JSON call: body, query and path members together. Path members win. */
export function restRequest(grammar: RestGrammar, rest: Recorded): { readonly operation: Operation; readonly raw: Members } | undefined {
  const { pathname, searchParams } = new URL(rest.path, 'http://host');
  for (const prefix of grammar.tenants ? ['', '/{tenant}'] : ['']) {
    for (const route of grammar.routes) {
      const inPath = route.verb === rest.verb ? matched(prefix + route.path, pathname) : undefined;
      if (inPath !== undefined) return { operation: route.operation, raw: { ...bodyOf(rest), ...queryOf(route, searchParams), ...inPath } };
    }
  }
  return undefined;
}

/** The same call as our link makes it. */
export function restCall(grammar: RestGrammar, operation: Operation, request: Json): Recorded {
  const route = grammar.routes.find((candidate) => candidate.operation === operation && candidate.alias !== true);
  if (route === undefined) throw new Error(`no route for ${operation}`);
  const rest: Record<string, unknown> = { ...(request as Members) };
  const template = grammar.tenants && rest['tenant'] !== undefined ? `/{tenant}${route.path}` : route.path;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  if (route.verb === 'POST') return { verb: route.verb, path, body: rest as Json };
  const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)]));
  return { verb: route.verb, path: query.size === 0 ? path : `${path}?${query}` };
}

function matched(pattern: string, pathname: string): Members | undefined {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '');
  const values = new RegExp(`^${pattern.replace(/\{\w+\}/g, '([^/:]+)')}$`).exec(pathname);
  if (values === null) return undefined;
  return Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(values[at + 1] ?? '')]));
}

function queryOf(route: RestRoute, query: URLSearchParams): Members {
  return Object.fromEntries([...query].map(([name, value]) => [name, route.flags?.includes(name) === true ? value === 'true' : value]));
}

function bodyOf(rest: Recorded): Members {
  return (rest.body ?? {}) as Members;
}
