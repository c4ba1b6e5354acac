import type { Caller, HttpRequest, HttpResponse, ResponseStream } from '#bindings';
import type { AdminExchange, Mutable } from '#protocol';
import type { Route } from '../routes/routes.ts';
import { withBody } from '../routes/with-body.ts';
import { bodyOf, frameOf, headersOf, responseHeadersOf, targetOf } from './redact.ts';

/** The maximum recorded length of each body, and of all frames of a stream together. */
export const CHARS_MAX = 32_768;
export const FRAMES_MAX = 200;

/** The recording of one request and its response. */
export interface ExchangeRecording {
  /** Use this request instead of the original: it records the body when it is read. */
  readonly request: HttpRequest;
  /** Returns the response to send instead of the original: it records a stream while it is sent. */
  responded(response: HttpResponse, about: { readonly route: Route | undefined; readonly caller?: Caller | undefined }): HttpResponse;
}

/** An exchange while it is recorded. */
export interface RecordedExchange extends Mutable<AdminExchange> {
  frames: { readonly atMs: number; readonly text: string }[];
}

/** Routes that are not recorded: admin requests are in the audit log, and the others would bury everything else. */
const LEFT_OUT: ReadonlySet<string> = new Set(['admin', 'console', 'docs', 'welcome', 'health', 'ready', 'metrics']);

/** `keep` stores the exchange once its route is known, and returns a function to call after each change. */
export function recordExchange(given: HttpRequest, keep: (exchange: RecordedExchange) => () => void): ExchangeRecording {
  const began = performance.now();
  const kept = newExchange(given);
  const request = withBody(given, async (bytesMax) => {
    const bytes = await given.body(bytesMax);
    kept.body = bodyOf(new TextDecoder().decode(bytes.subarray(0, CHARS_MAX)));
    kept.isCut ||= bytes.length > CHARS_MAX;
    return bytes;
  });
  return {
    request,
    responded: (response, { route, caller }) => {
      if (route !== undefined && LEFT_OUT.has(route.name)) return response;
      const { status, headers, body } = response;
      Object.assign(kept, {
        status,
        answerHeaders: responseHeadersOf(headers),
        ...(caller === undefined ? {} : { principal: caller.principal.id }),
      });
      if (body === null || typeof body === 'string') {
        kept.answer = body === null ? '' : bodyOf(body.slice(0, CHARS_MAX));
        kept.isCut ||= body !== null && body.length > CHARS_MAX;
        kept.endedMs = performance.now() - began;
        keep(kept);
        return response;
      }
      if (body.isDocument === true) return { ...response, body: recordedDocument(body, kept, { began, changed: keep(kept) }) };
      kept.isStream = true;
      return { ...response, body: recordedStream(body, kept, { began, changed: keep(kept) }) };
    },
  };
}

/** The exchange of a request that has just arrived. */
export function newExchange(request: HttpRequest): RecordedExchange {
  return {
    n: 0,
    at: new Date().toISOString(),
    ...(request.peer?.address === undefined ? {} : { client: request.peer.address }),
    method: request.method,
    target: targetOf(request),
    headers: headersOf(request),
    body: '',
    status: 0,
    answerHeaders: [],
    answer: '',
    frames: [],
    isStream: false,
    isCut: false,
  };
}

/** The same stream; each piece is recorded when the client reads it. */
function recordedStream(
  flow: ResponseStream,
  kept: RecordedExchange,
  { began, changed }: { readonly began: number; readonly changed: () => void },
): ResponseStream {
  let rest = '';
  let chars = 0;
  const take = (text: string): void => {
    chars += text.length;
    if (chars > CHARS_MAX || kept.frames.length >= FRAMES_MAX) {
      kept.isCut = true;
      return;
    }
    // Only the new text is searched, so that many small pieces cost no more than one.
    if (!text.includes('\n') || !`${rest.slice(-1)}${text}`.includes('\n\n')) {
      rest += text;
      return;
    }
    const frames = (rest + text).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) kept.frames.push({ atMs: performance.now() - began, text: frameOf(frame) });
  };
  const end = (): void => {
    kept.endedMs ??= performance.now() - began;
    changed();
  };
  return {
    next: async () => {
      const text = await flow.next();
      if (text === undefined) end();
      else {
        take(text);
        changed();
      }
      return text;
    },
    cancel: () => {
      end();
      flow.cancel();
    },
    finish: (text) => flow.finish(text),
    get isWhole() {
      return flow.isWhole;
    },
    get heldBytes() {
      return flow.heldBytes ?? 0;
    },
    onEnd: (listener) => flow.onEnd(listener),
  };
}

/** The same document; its beginning is recorded. */
function recordedDocument(
  flow: ResponseStream,
  kept: RecordedExchange,
  { began, changed }: { readonly began: number; readonly changed: () => void },
): ResponseStream {
  let text = '';
  flow.onEnd(() => {
    kept.answer = bodyOf(text.slice(0, CHARS_MAX));
    kept.isCut ||= text.length > CHARS_MAX;
    kept.endedMs = performance.now() - began;
    changed();
  });
  return {
    isDocument: true,
    next: async () => {
      const piece = await flow.next();
      if (piece !== undefined && text.length <= CHARS_MAX) text += piece;
      return piece;
    },
    cancel: () => flow.cancel(),
    finish: () => {},
    get isWhole() {
      return flow.isWhole;
    },
    get heldBytes() {
      return flow.heldBytes ?? 0;
    },
    onEnd: () => {},
  };
}
