import type { HttpRequest } from '#bindings';
import { cleaned, cleanedText } from '../observability/log.ts';

/**
 * Request headers that are recorded. All others are left out, because an unknown header may hold a
 * credential.
 */
const SHOWN = [
  'accept',
  'content-type',
  'content-length',
  'user-agent',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'last-event-id',
  'idempotency-key',
  'traceparent',
  'origin',
];
/** Headers that are recorded without their value. */
const HIDDEN = ['authorization', 'proxy-authorization', 'x-api-key', 'cookie'];
const ANSWERED =
  /^(content-type|cache-control|etag|retry-after|a2a-version|a2a-extensions|x-a2a-extensions|www-authenticate|x-request-id)$/i;
/** Query parameters that are recorded with their value. Any other parameter may hold a credential. */
const PARAMETERS =
  /^(dialect|A2A-Version|history_?[lL]ength|page_?[sS]ize|status|status_?[tT]imestamp_?[aA]fter|context_?[iI]d|include_?[aA]rtifacts|tenant)$/;
const REMOVED = '[removed]';

/** Headers as pairs of name and value. */
export type HeaderList = readonly (readonly [string, string])[];

/** The request headers to record. */
export function headersOf(httpRequest: HttpRequest): HeaderList {
  const shown = SHOWN.flatMap((name) => {
    const value = httpRequest.header(name);
    return value === undefined ? [] : [[name, cleanedText(value)] as const];
  });
  const hidden = HIDDEN.filter((name) => httpRequest.header(name) !== undefined).map((name) => [name, REMOVED] as const);
  return [...shown, ...hidden];
}

/** The response headers to record. */
export function responseHeadersOf(headers: Readonly<Record<string, string>>): HeaderList {
  return Object.entries(headers).filter(([name]) => ANSWERED.test(name));
}

/** Path and query, with the values of unknown parameters removed. */
export function targetOf({ path, query }: HttpRequest): string {
  if (query === '') return cleanedText(path);
  const shown = [...new URLSearchParams(query)].map(
    ([name, value]) => `${encodeURIComponent(name)}=${PARAMETERS.test(name) ? encodeURIComponent(value) : REMOVED}`,
  );
  return `${cleanedText(path)}?${shown.join('&')}`;
}

/**
 * Removes from a body everything that is named or looks like a credential. A text that is not complete
 * JSON is cleaned as text.
 */
export function bodyOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), cleaned);
  } catch {
    return cleanedText(text);
  }
}

/** Removes credentials from a server-sent event, whose data is JSON. */
export function frameOf(text: string): string {
  return text
    .split('\n')
    .map((line) => (line.startsWith('data:') ? `data: ${bodyOf(line.slice(5).trimStart())}` : cleanedText(line)))
    .join('\n');
}
