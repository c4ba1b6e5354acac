import type { Dispatcher } from 'undici';
import { request as undiciRequest } from 'undici';
import type { Fetch, Linked } from '#protocol';
import { linkSignals } from '#protocol';
import { OutboundError } from './errors.ts';
import type { Policy } from './policy.ts';

interface GuardedFetchOptions {
  readonly agent: Dispatcher;
  readonly policy: Policy;
  readonly limits: { readonly bytesMax: number; readonly msMax: number };
}

/** Statuses whose responses have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * A fetch that checks the URL, follows no redirect, and limits the size and the duration of a response.
 */
export function guardedFetch({ agent, policy, limits }: GuardedFetchOptions): Fetch {
  return async (request) => {
    const url = new URL(request.url);
    policy.checkUrl(url);
    const deadline = linkSignals([request.signal], limits.msMax);
    const headers = Object.fromEntries(request.headers);
    // undici's `request` follows no redirects and decompresses nothing, unlike its `fetch`.
    const answer = await undiciRequest(url, {
      dispatcher: agent,
      method: request.method as Dispatcher.HttpMethod,
      headers: { 'user-agent': 'parley', ...headers, 'accept-encoding': 'identity' },
      body: request.body === null ? null : new Uint8Array(await request.arrayBuffer()),
      signal: deadline.signal,
      headersTimeout: limits.msMax,
      bodyTimeout: limits.msMax,
    }).catch((thrown: unknown) => {
      deadline.release();
      throw explained(thrown, deadline);
    });
    answer.body.on('error', () => undefined); // a reader gets the error from the iterator; without this listener Node would crash on an unread body's error
    const isRedirect = answer.statusCode >= 300 && answer.statusCode < 400 && answer.statusCode !== 304;
    if (isRedirect && request.redirect !== 'manual') {
      answer.body.destroy();
      deadline.release();
      throw new OutboundError('redirect', `${url.host} responded with a redirect (${answer.statusCode}); redirects are not followed`);
    }
    return responseOf(answer, limits.bytesMax, deadline);
  };
}

/** A web `Response` of undici's response. The deadline ends when the body is read or dropped. */
function responseOf(answer: Dispatcher.ResponseData, bytesMax: number, deadline: Linked): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const each of typeof value === 'string' ? [value] : (value ?? [])) headers.append(name, each);
  }
  const isEmpty = BODILESS.has(answer.statusCode);
  const drop = (): void => {
    deadline.release();
    answer.body.destroy();
  };
  if (isEmpty) drop();
  const body = isEmpty ? null : streamOf(contentOf(answer, bytesMax, deadline), drop);
  return new Response(body, { status: answer.statusCode, headers });
}

/**
 * Unlike `ReadableStream.from`, this also releases the socket of a body that is cancelled before the
 * first read.
 */
function streamOf(content: AsyncGenerator<Uint8Array>, drop: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await content.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: drop,
  });
}

/** Counts the bytes as they arrive and stops reading at the limit. */
async function* contentOf({ body, headers }: Dispatcher.ResponseData, bytesMax: number, deadline: Linked): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    const coding = headers['content-encoding'];
    if (coding !== undefined && coding !== 'identity')
      throw new OutboundError('encoding', `the response is compressed (${String(coding)}), which is not accepted`);
    if (Number(headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      length += piece.length;
      if (length > bytesMax) throw tooLarge(bytesMax);
      yield piece;
    }
  } catch (thrown) {
    throw explained(thrown, deadline);
  } finally {
    deadline.release();
    body.destroy();
  }
}

function tooLarge(bytesMax: number): OutboundError {
  return new OutboundError('size', `the response is larger than ${bytesMax} bytes`);
}

function explained(thrown: unknown, deadline: Linked): unknown {
  if (thrown instanceof OutboundError) return thrown;
  if (deadline.isLate || isTimeout(thrown)) return new OutboundError('timeout', 'the response did not arrive in time', { cause: thrown });
  // The caller aborted the request, so it gets its own error back.
  if (thrown instanceof Error && thrown.name === 'AbortError') return thrown;
  return new OutboundError('network', thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
}

function isTimeout(thrown: unknown): boolean {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
}
