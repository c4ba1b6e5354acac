import type { ConsoleExchange } from './exchange.ts';

const typeIn = (headers: ConsoleExchange['headers']): string => headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
const named = (headers: ConsoleExchange['headers']): readonly object[] => headers.map(([name, value]) => ({ name, value }));

/** One exchange as an entry of a HAR file. Its members are all in the format, except `_frames`. */
function entryOf({
  at,
  method,
  url,
  headers,
  body,
  status,
  answerHeaders,
  answer,
  frames,
  isStream,
  endedMs = 0,
}: ConsoleExchange): object {
  const text = isStream ? frames.map((frame) => `${frame.text}\n\n`).join('') : answer;
  const sizes = { headersSize: -1, bodySize: -1 };
  return {
    startedDateTime: new Date(at).toISOString(),
    time: endedMs,
    request: {
      ...{ method, url, httpVersion: 'HTTP/1.1', cookies: [], headers: named(headers), ...sizes },
      queryString: [...new URL(url).searchParams].map(([name, value]) => ({ name, value })),
      ...(body === '' ? {} : { postData: { mimeType: typeIn(headers), text: body } }),
    },
    response: {
      ...{ status, statusText: '', httpVersion: 'HTTP/1.1', cookies: [], headers: named(answerHeaders), redirectURL: '', ...sizes },
      content: { size: text.length, mimeType: typeIn(answerHeaders), text },
    },
    cache: {},
    timings: { send: 0, wait: endedMs, receive: 0 },
    ...(isStream ? { _frames: frames } : {}),
  };
}

/** The exchanges as a HAR 1.2 file, which browsers and proxies open, the oldest first. Credentials are masked in them already. */
export function harOf(all: readonly ConsoleExchange[], version: string): string {
  const entries = all.toSorted((one, other) => one.at - other.at).map(entryOf);
  return JSON.stringify({ log: { version: '1.2', creator: { name: 'Parley console', version }, entries } }, null, 2);
}
