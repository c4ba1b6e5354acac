import { signal } from '@preact/signals';
import type { Interceptor } from '#client';

/** One request of this console and what came back, as sent. */
export interface Exchange {
  readonly n: number;
  readonly to: string;
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  status: number;
  answerHeaders: readonly (readonly [string, string])[];
  /** The answer, or the frames of a stream so far. */
  answer: string;
  frames: { readonly atMs: number; readonly text: string }[];
  isStream: boolean;
  endedMs: number | undefined;
  problem: string;
  /** What else is to be said of it. */
  note: string;
}

const KEPT = 200;
const TEXT_MAX = 400_000;
/** The newest first. They live as long as the page. */
export const exchanges = signal<readonly Exchange[]>([]);
/** Counts what has changed within them. */
export const changes = signal(0);
let last = 0;
let isDue = false;

const HIDDEN = /^(authorization|x-relay-authorization|x-api-key|cookie)$/i;

/** Writes down every request of a client. Credentials are not written down. */
export function recording(to: string): Interceptor {
  return async (request, next) => {
    const exchange = await begin(to, request);
    const began = performance.now();
    try {
      const response = await next(request);
      exchange.status = response.status;
      exchange.answerHeaders = [...response.headers].filter(([name]) => !name.startsWith('x-relay'));
      exchange.isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
      if (response.body === null) {
        exchange.endedMs = performance.now() - began;
        touch();
        return response;
      }
      const [ours, theirs] = response.body.tee();
      void listen(exchange, ours, began);
      return new Response(theirs, response);
    } catch (thrown) {
      exchange.problem = thrown instanceof Error ? thrown.message : String(thrown);
      exchange.endedMs = performance.now() - began;
      touch();
      throw thrown;
    }
  };
}

async function begin(to: string, request: Request): Promise<Exchange> {
  last += 1;
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  const exchange: Exchange = {
    n: last,
    to,
    at: Date.now(),
    method: request.method,
    url: request.url,
    headers: [...request.headers].map(([name, value]) => [name, HIDDEN.test(name) ? '•••' : value] as const),
    body: hasBody ? await request.clone().text() : '',
    status: 0,
    answerHeaders: [],
    answer: '',
    frames: [],
    isStream: false,
    endedMs: undefined,
    problem: '',
    note: '',
  };
  exchanges.value = [exchange, ...exchanges.value.slice(0, KEPT - 1)];
  return exchange;
}

async function listen(exchange: Exchange, body: ReadableStream<Uint8Array>, began: number): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  let size = 0;
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      size += piece.value.length;
      if (size > TEXT_MAX) continue; // a long stream is not kept whole
      if (exchange.isStream) {
        const frames = (rest + piece.value).split('\n\n');
        rest = frames.pop() ?? '';
        for (const text of frames) exchange.frames.push({ atMs: performance.now() - began, text });
      } else {
        exchange.answer += piece.value;
      }
      touch();
    }
  } catch (thrown) {
    exchange.problem = thrown instanceof Error ? thrown.message : String(thrown);
  }
  exchange.endedMs = performance.now() - began;
  touch();
}

/** Once a frame at most: streams are faster than screens. */
function touch(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    changes.value += 1;
  });
}
