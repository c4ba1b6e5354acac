import type { HttpRequest } from '#bindings';
import { cleaned, cleanedText } from '../observability/log.ts';

/** Headers that mean something to A2A. Nothing else is written down: a header that nobody has thought of may be a key. */
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
/** Of these only that they were there. */
const HIDDEN = ['authorization', 'proxy-authorization', 'x-api-key', 'cookie'];
const ANSWERED =
  /^(content-type|cache-control|etag|retry-after|a2a-version|a2a-extensions|x-a2a-extensions|www-authenticate|x-request-id)$/i;
/** Parameters of A2A and of ours. A key may stand under any other name. */
const PARAMETERS =
  /^(dialect|A2A-Version|history_?[lL]ength|page_?[sS]ize|status|status_?[tT]imestamp_?[aA]fter|context_?[iI]d|include_?[aA]rtifacts|tenant)$/;
const REMOVED = '[removed]';

export type HeaderList = readonly (readonly [string, string])[];

export function headersOf(httpRequest: HttpRequest): HeaderList {
  const shown = SHOWN.flatMap((name) => {
    const value = httpRequest.header(name);
    return value === undefined ? [] : [[name, cleanedText(value)] as const];
  });
  const hidden = HIDDEN.filter((name) => httpRequest.header(name) !== undefined).map((name) => [name, REMOVED] as const);
  return [...shown, ...hidden];
}

export function answerHeadersOf(headers: Readonly<Record<string, string>>): HeaderList {
  return Object.entries(headers).filter(([name]) => ANSWERED.test(name));
}

export function targetOf({ path, query }: HttpRequest): string {
  if (query === '') return cleanedText(path);
  const shown = [...new URLSearchParams(query)].map(
    ([name, value]) => `${encodeURIComponent(name)}=${PARAMETERS.test(name) ? encodeURIComponent(value) : REMOVED}`,
  );
  return `${cleanedText(path)}?${shown.join('&')}`;
}

/** JSON without what sounds or looks like a credential; what is cut or no JSON is cleaned as text. */
export function bodyOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), cleaned);
  } catch {
    return cleanedText(text);
  }
}

/** A frame of server-sent events: its data is JSON. */
export function frameOf(text: string): string {
  return text
    .split('\n')
    .map((line) => (line.startsWith('data:') ? `data: ${bodyOf(line.slice(5).trimStart())}` : cleanedText(line)))
    .join('\n');
}
