import type { Json, JsonObject, Operation, RestGrammar, RestRoute } from '#protocol';
import { A2AError, invalidParams } from '#protocol';

/**
 * One segment of a route: fixed text, or a member of the request with a suffix, as in `{id}:cancel`.
 */
type Segment = { readonly text: string } | { readonly member: string; readonly suffix: string };

interface Compiled {
  readonly route: RestRoute;
  readonly segments: readonly Segment[];
}

interface CompiledGrammar {
  readonly routes: readonly Compiled[];
  /**
   * For example `:cancel`. A segment with such an ending is never an id; otherwise `GET
   * /tasks/x:cancel` would read a task.
   */
  readonly suffixes: readonly string[];
}

/** A route that fits a path. */
export interface RouteMatch {
  readonly route: RestRoute;
  /** Members of the request in the path, still percent-encoded. `decodedMembers` decodes them. */
  readonly members: Readonly<Record<string, string>>;
}

/** Parsed routes by grammar, since a grammar never changes. */
const compiled = new WeakMap<RestGrammar, CompiledGrammar>();

/** Splits the routes of a grammar into segments, once. */
function compile(grammar: RestGrammar): CompiledGrammar {
  const known = compiled.get(grammar);
  if (known !== undefined) return known;
  const routes = grammar.routes.map((route) => ({ route, segments: route.path.slice(1).split('/').map(segmentOf) }));
  const suffixes = routes.flatMap(({ segments }) =>
    segments.flatMap((segment) => ('suffix' in segment && segment.suffix !== '' ? [segment.suffix] : [])),
  );
  const made = { routes, suffixes: [...new Set(suffixes)] };
  compiled.set(grammar, made);
  return made;
}

function segmentOf(text: string): Segment {
  const found = /^\{(\w+)\}(.*)$/.exec(text);
  return found === null ? { text } : { member: found[1] ?? '', suffix: found[2] ?? '' };
}

/**
 * The routes that fit a path, with any HTTP method. Fixed segments take precedence over a tenant:
 * `/tasks/x` is a task, never the tenant `tasks`. Segments are compared before decoding, so an encoded
 * `%3Acancel` is part of an id.
 */
export function matchPath(grammar: RestGrammar, path: string, tenants: boolean): readonly RouteMatch[] {
  const parts = path.slice(1).split('/');
  if (!tenants) return fitting(compile(grammar), parts, {});
  const [tenant, ...below] = parts;
  return grammar.tenants && tenant !== undefined && tenant !== '' ? fitting(compile(grammar), below, { tenant }) : [];
}

function fitting({ routes, suffixes }: CompiledGrammar, parts: readonly string[], also: RouteMatch['members']): readonly RouteMatch[] {
  return routes.flatMap(({ route, segments }) => {
    const members = membersOf(segments, suffixes, parts);
    return members === undefined ? [] : [{ route, members: { ...members, ...also } }];
  });
}

/** The members that a path holds for a route. Undefined if the path does not fit. */
function membersOf(
  segments: readonly Segment[],
  suffixes: readonly string[],
  parts: readonly string[],
): Record<string, string> | undefined {
  if (segments.length !== parts.length) return undefined;
  const members: Record<string, string> = {};
  for (const [at, segment] of segments.entries()) {
    const part = parts[at] ?? '';
    if ('text' in segment) {
      if (segment.text !== part) return undefined;
      continue;
    }
    const value = valueIn(part, segment.suffix, suffixes);
    if (value === undefined) return undefined;
    members[segment.member] = value;
  }
  return members;
}

function valueIn(part: string, suffix: string, suffixes: readonly string[]): string | undefined {
  if (suffix === '') return part === '' || suffixes.some((each) => part.endsWith(each)) ? undefined : part;
  return part.length > suffix.length && part.endsWith(suffix) ? part.slice(0, -suffix.length) : undefined;
}

/** Decodes the members of the matched route. Throws INVALID_REQUEST for malformed percent-encoding. */
export function decodedMembers({ members }: RouteMatch): RouteMatch['members'] {
  try {
    return Object.fromEntries(Object.entries(members).map(([name, part]) => [name, decodeURIComponent(part)]));
  } catch {
    throw new A2AError('INVALID_REQUEST', 'the path is not well-formed', { field: 'path' });
  }
}

/**
 * The members of a query. Flags become booleans; numbers and enums are read from text by the dialect.
 */
export function queryMembers(query: URLSearchParams, flags: readonly string[] = []): Record<string, unknown> {
  const members = new Map<string, unknown>();
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    members.set(name, values.length > 1 ? values : flags.includes(name) ? flag(values[0]) : values[0]);
  }
  return Object.fromEntries(members);
}

function flag(text: string | undefined): unknown {
  return text === 'true' ? true : text === 'false' ? false : text;
}

/**
 * The route that a client uses for an operation. Aliases are used only when their HTTP method is asked
 * for.
 */
export function routeFor(grammar: RestGrammar, operation: Operation, verb?: RestRoute['verb']): RestRoute | undefined {
  const fits = grammar.routes.filter((route) => route.operation === operation);
  return fits.find((route) => (verb === undefined ? route.alias !== true : route.verb === verb));
}

/** Puts a request's members into the path. `left` are the members for the query or the body. */
export function fillPath(route: RestRoute, request: JsonObject, tenants: boolean): { readonly path: string; readonly left: JsonObject } {
  const left: Record<string, Json> = { ...request };
  const take = (member: string): string => {
    const value = left[member];
    if (typeof value !== 'string' || value === '') throw invalidParams({ path: member, problem: 'is required' });
    delete left[member];
    return segment(value, member);
  };
  const path = route.path.replace(/\{(\w+)\}/g, (_, member: string) => take(member));
  const tenant = tenants && left['tenant'] !== undefined ? `/${take('tenant')}` : '';
  return { path: `${tenant}${path}`, left };
}

/**
 * Encodes a member for a path. URLs resolve `.` and `..` even when they are encoded, so an id like that
 * would change the address.
 */
function segment(value: string, member: string): string {
  if (value === '.' || value === '..' || !value.isWellFormed())
    throw invalidParams({ path: member, problem: 'is not allowed in a URL path' });
  return encodeURIComponent(value);
}

/** The query string for a request without a body. Absent members are left out. */
export function queryOf(left: JsonObject): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(left)) {
    if (value !== null && value !== undefined) query.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
