import type { HttpRequest, HttpResponse, ResponseStream } from '#bindings';
import { isA2AError, kept } from '#protocol';
import { errorAnswer, refusal } from './responses.ts';

/** Headers that are passed on: those of MCP's transport and general ones. Credentials are not. */
const PASSED = [
  ...['accept', 'content-type', 'last-event-id', 'user-agent'],
  ...['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name'],
];

/**
 * Passes a request that has passed the access checks to a function that takes a web `Request`. The body
 * is read under the node's limit.
 */
export async function passedOn(
  httpRequest: HttpRequest,
  bodyBytesMax: number,
  answer: (request: Request) => Promise<Response>,
): Promise<HttpResponse> {
  try {
    const headers = PASSED.flatMap((name): [string, string][] => {
      const value = httpRequest.header(name);
      return value === undefined ? [] : [[name, value]];
    });
    const body = httpRequest.method === 'POST' ? await httpRequest.body(bodyBytesMax) : undefined;
    const query = httpRequest.query === '' ? '' : `?${httpRequest.query}`;
    const request = new Request(`${httpRequest.origin}${httpRequest.path}${query}`, {
      method: httpRequest.method,
      headers,
      signal: httpRequest.signal,
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
    });
    return await answerOf(await answer(kept(request)));
  } catch (thrown) {
    if (isA2AError(thrown)) return errorAnswer(thrown);
    if (httpRequest.signal.aborted) return refusal(503, 'the client has disconnected');
    throw thrown;
  }
}

async function answerOf(response: Response): Promise<HttpResponse> {
  const { status, body } = response;
  const { 'x-content-type-options': _, ...headers } = Object.fromEntries(response.headers);
  if (body === null) return { status, headers, body: null };
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  return { status, headers, body: isStream ? flowOf(body) : await response.text() };
}

/** A web stream as the stream of a response. */
function flowOf(body: ReadableStream<Uint8Array>): ResponseStream {
  const listeners: ((flow: ResponseStream) => void)[] = [];
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const last: string[] = [];
  let isOver = false;
  let isWhole = false;
  const end = (): void => {
    isOver = true;
    for (const listener of listeners.splice(0)) listener(flow);
  };
  const leave = (): void => {
    end();
    void reader.cancel().catch(() => undefined); // errors of the cancelled stream do not matter
  };
  const flow: ResponseStream = {
    get isWhole() {
      return isWhole;
    },
    next: async () => {
      if (isOver) return last.shift();
      const { done, value } = await reader.read().catch(() => ({ done: true as const, value: undefined }));
      if (!done && !isOver) return decoder.decode(value, { stream: true });
      isWhole ||= !isOver;
      end();
      return last.shift();
    },
    cancel: leave,
    finish: (text) => {
      if (isOver) return;
      last.push(text);
      leave();
    },
    onEnd: (listener) => {
      if (isOver) listener(flow);
      else listeners.push(listener);
    },
  };
  return flow;
}
