import type { Dispatcher } from 'undici';
import { request as undiciRequest } from 'undici';
import type { Fetch, Linked } from '#protocol';
import { linkSignals } from '#protocol';
import { OutboundError } from './errors.ts';
import type { Policy } from './policy.ts';

interface GuardedFetch {
  readonly agent: Dispatcher;
  readonly policy: Policy;
  readonly limits: { readonly bytesMax: number; readonly msMax: number };
}

/** Statuses whose answers have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

export function guardedFetch({ agent, policy, limits }: GuardedFetch): Fetch {
  return async (request) => {
    const url = new URL(request.url);
    policy.checkUrl(url);
    const deadline = linkSignals([request.signal], limits.msMax);
    const headers = Object.fromEntries(request.headers);
    // undici's own `fetch` would follow redirects and unpack what it is given; this does neither.
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
    answer.body.on('error', () => undefined); // whoever reads it hears of it; what is dropped unread concerns nobody
    if (answer.statusCode >= 300 && answer.statusCode < 400 && answer.statusCode !== 304) {
      answer.body.destroy();
      deadline.release();
      throw new OutboundError('redirect', `${url.host} answers with a redirect (${answer.statusCode}), and none is followed`);
    }
    return responseOf(answer, limits.bytesMax, deadline);
  };
}

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

/** Unlike `ReadableStream.from`, it lets go of the socket also when it was never read. */
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

/** Counted as it comes; what is too much is not read to its end. */
async function* contentOf({ body, headers }: Dispatcher.ResponseData, bytesMax: number, deadline: Linked): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    const coding = headers['content-encoding'];
    if (coding !== undefined && coding !== 'identity') throw new OutboundError('encoding', `the answer is packed (${String(coding)})`);
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
  return new OutboundError('size', `the answer has more than ${bytesMax} bytes`);
}

function explained(thrown: unknown, deadline: Linked): unknown {
  if (thrown instanceof OutboundError) return thrown;
  if (deadline.isLate || isTimeout(thrown)) return new OutboundError('timeout', 'the answer did not come in time', { cause: thrown });
  // Called off by whoever asked: that is for them to explain.
  if (thrown instanceof Error && thrown.name === 'AbortError') return thrown;
  return new OutboundError('network', thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
}

function isTimeout(thrown: unknown): boolean {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
}
