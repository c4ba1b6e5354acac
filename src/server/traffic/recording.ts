import type { Caller, HttpRequest, HttpResponse, Outflow } from '#bindings';
import type { AdminExchange, Mutable } from '#protocol';
import { withBody } from '../access/limits/rate-limit.ts';
import type { Route } from '../routes/routes.ts';
import { answerHeadersOf, bodyOf, frameOf, headersOf, targetOf } from './redact.ts';

/** Of each body, and of the frames of a stream together. */
const CHARS_MAX = 32_768;
const FRAMES_MAX = 200;

/** One exchange while it is being written down. */
export interface ExchangeRecording {
  /** The request as it goes on. */
  readonly request: HttpRequest;
  /** The answer as it goes out. */
  answered(answer: HttpResponse, about: { readonly route: Route | undefined; readonly caller?: Caller | undefined }): HttpResponse;
}

export interface RecordedExchange extends Mutable<AdminExchange> {
  frames: { readonly atMs: number; readonly text: string }[];
}

/** What operators do is in the audit log, and what everybody asks all the time tells nothing. */
const LEFT_OUT: ReadonlySet<string> = new Set(['admin', 'console', 'welcome', 'health', 'ready', 'metrics']);

/** `keep` is told of it once it is known what it was, `changed` each time that there is more of it. */
export function recordExchange(given: HttpRequest, keep: (kept: RecordedExchange) => () => void): ExchangeRecording {
  const began = performance.now();
  const kept: RecordedExchange = {
    n: 0,
    at: new Date().toISOString(),
    ...(given.peer?.address === undefined ? {} : { client: given.peer.address }),
    method: given.method,
    target: targetOf(given),
    headers: headersOf(given),
    body: '',
    status: 0,
    answerHeaders: [],
    answer: '',
    frames: [],
    isStream: false,
    isCut: false,
  };
  const request = withBody(given, async (bytesMax) => {
    const bytes = await given.body(bytesMax);
    kept.body = bodyOf(new TextDecoder().decode(bytes.subarray(0, CHARS_MAX)));
    kept.isCut ||= bytes.length > CHARS_MAX;
    return bytes;
  });
  return {
    request,
    answered: (answer, { route, caller }) => {
      if (route !== undefined && LEFT_OUT.has(route.name)) return answer;
      const { status, headers, body } = answer;
      Object.assign(kept, {
        status,
        answerHeaders: answerHeadersOf(headers),
        ...(caller === undefined ? {} : { principal: caller.principal.id }),
      });
      if (body === null || typeof body === 'string') {
        kept.answer = body === null ? '' : bodyOf(body.slice(0, CHARS_MAX));
        kept.isCut ||= body !== null && body.length > CHARS_MAX;
        kept.endedMs = performance.now() - began;
        keep(kept);
        return answer;
      }
      kept.isStream = true;
      return { ...answer, body: listened(body, kept, { began, changed: keep(kept) }) };
    },
  };
}

/** Hears what its reader hears, at the reader's speed. */
function listened(
  flow: Outflow,
  kept: RecordedExchange,
  { began, changed }: { readonly began: number; readonly changed: () => void },
): Outflow {
  let rest = '';
  let chars = 0;
  const take = (text: string): void => {
    chars += text.length;
    if (chars > CHARS_MAX || kept.frames.length >= FRAMES_MAX) {
      kept.isCut = true;
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
    onEnd: (listener) => flow.onEnd(listener),
  };
}
