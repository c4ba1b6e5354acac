import type { HttpRequest, HttpResponse } from '#bindings';
import { parseJson, requestBytes } from '#bindings';
import type { Json, JsonObject } from '#protocol';
import { isA2AError, isObject, type RawObject } from '#protocol';
import type { CatalogOptions } from './catalog.ts';
import { catalogOf } from './catalog.ts';
import { errorAnswer, json } from './responses.ts';

/** What the search needs. */
export interface ArdOptions extends CatalogOptions {
  readonly bodyBytesMax: number;
}

const PAGE = 10;
const LIST_PAGE = 20;
const PAGE_MAX = 100;
const ROOT_MEMBERS: ReadonlySet<string> = new Set(['query', 'federation', 'pageSize', 'pageToken']);

/**
 * Finds agents by words: `POST /ard/search`. `GET /ard/agents` lists all of them (Agent Resource
 * Discovery 0.9).
 */
export async function ardAnswer(request: HttpRequest, options: ArdOptions): Promise<HttpResponse> {
  const entries = entriesOf(options);
  try {
    if (request.method !== 'POST') return listed(entries, new URLSearchParams(request.query));
    const parsed = parseJson(await requestBytes(request, options.bodyBytesMax), 16);
    if (!parsed.ok || !isObject(parsed.value)) throw new Invalid('the body must be a JSON object');
    return searched(entries, parsed.value, `${options.base}/ard/`);
  } catch (thrown) {
    if (thrown instanceof Invalid) return json({ error: { code: 'INVALID_ARGUMENT', message: thrown.message } }, 400);
    if (isA2AError(thrown)) return errorAnswer(thrown);
    throw thrown;
  }
}

class Invalid extends Error {}

function entriesOf(options: CatalogOptions): readonly JsonObject[] {
  const { entries } = catalogOf(options);
  return Array.isArray(entries) ? entries.filter(isObject).map((entry) => entry as JsonObject) : [];
}

function listed(entries: readonly JsonObject[], query: URLSearchParams): HttpResponse {
  const { page, pageToken } = paged(entries, { size: query.get('pageSize') ?? LIST_PAGE, token: query.get('pageToken') ?? undefined });
  return json({ items: page, total: entries.length, ...(pageToken === undefined ? {} : { pageToken }) }, 200);
}

/** Agents that contain at least one of the words, the best first. At most 32 words count. */
function searched(entries: readonly JsonObject[], body: RawObject, source: string): HttpResponse {
  const unknown = Object.keys(body).find((name) => !ROOT_MEMBERS.has(name));
  if (unknown !== undefined) throw new Invalid(`unknown member ${unknown.slice(0, 50)}`);
  const query = isObject(body['query']) ? body['query'] : {};
  const { text, filter } = query;
  if (typeof text !== 'string' || text.trim() === '') throw new Invalid('query.text is required');
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, 32);
  const scored = entries
    .filter((entry) => passes(entry, filter))
    .map((entry): JsonObject & { readonly score: number } => ({ ...entry, score: scoreOf(entry, words), source }))
    .filter(({ score }) => score > 0)
    .toSorted((left, right) => right.score - left.score || (String(left['identifier']) < String(right['identifier']) ? -1 : 1));
  const { page, pageToken } = paged(scored, { size: body['pageSize'] ?? PAGE, token: body['pageToken'] });
  return json({ results: page, ...(pageToken === undefined ? {} : { pageToken }) }, 200);
}

/** The score is the share of the words that the entry contains. Words in its name count more. */
function scoreOf(entry: JsonObject, words: readonly string[]): number {
  if (words.length === 0) return 0;
  const name = JSON.stringify([entry['displayName'], entry['identifier']]).toLowerCase();
  const rest = JSON.stringify([entry['description'], entry['tags'], entry['capabilities'], entry['representativeQueries']]).toLowerCase();
  const points = words.reduce((sum, word) => sum + (name.includes(word) ? 1 : rest.includes(word) ? 0.6 : 0), 0);
  return Math.round((points / words.length) * 100);
}

/**
 * Values of one key are alternatives; all keys must match. A list matches if one of its members does.
 */
function passes(entry: JsonObject, filter: unknown): boolean {
  if (filter === undefined) return true;
  if (!isObject(filter)) throw new Invalid('query.filter must be an object');
  return Object.entries(filter).every(([path, wanted]) => {
    const values = [wanted].flat();
    if (!values.every((value) => typeof value === 'string'))
      throw new Invalid(`query.filter.${path.slice(0, 50)} must be a string or a list of strings`);
    return [valueAt(entry, path)].flat().some((value) => typeof value === 'string' && values.includes(value));
  });
}

function valueAt(entry: JsonObject, path: string): Json | undefined {
  if (path === 'publisher') return String(entry['identifier']).split(':')[2];
  return path
    .split('.')
    .reduce<Json | undefined>((value, step) => (isObject(value) ? ((value as JsonObject)[step] as Json) : undefined), entry);
}

/** One page. The token is an offset, because the list changes rarely. */
function paged<T>(
  all: readonly T[],
  { size, token }: { readonly size: unknown; readonly token: unknown },
): { page: readonly T[]; pageToken?: string } {
  const count = Number(size);
  if (!Number.isInteger(count) || count < 1 || count > PAGE_MAX) throw new Invalid(`pageSize must be from 1 to ${PAGE_MAX}`);
  const match = token === undefined ? undefined : /^offset-(\d{1,9})$/.exec(String(token));
  if (match === null) throw new Invalid('pageToken was not returned by this list');
  const from = Number(match?.[1] ?? 0);
  if (from > 0 && from >= all.length) throw new Invalid('pageToken was not returned by this list');
  const end = from + count;
  return { page: all.slice(from, end), ...(end < all.length ? { pageToken: `offset-${end}` } : {}) };
}
