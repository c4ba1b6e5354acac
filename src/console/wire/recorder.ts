import { signal } from '@preact/signals';
import type { Interceptor } from '#client';
import type { ConsoleExchange } from './exchange.ts';
import { grpcBodyIn, isGrpc } from './grpc-body.ts';
import { forgetExchanges, keepExchanges, keptExchanges } from './kept.ts';

const KEPT = 200;
const TEXT_MAX = 400_000;
/** The newest first. They are kept until the tab is closed, also when the page is loaded again. */
export const exchanges = signal<readonly ConsoleExchange[]>(keptExchanges());
/** Counts changes within the exchanges. */
export const changes = signal(0);
let last = exchanges.value[0]?.n ?? 0;
let isDue = false;

const HIDDEN = /^(authorization|x-relay-authorization|x-relay-headers|x-relay-api-key|x-api-key|cookie)$/i;

/** Records every request of a client, without credentials. */
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
      void (isGrpc(response.headers.get('content-type')) ? listenToGrpc : listen)(exchange, ours, began);
      return new Response(theirs, response);
    } catch (thrown) {
      exchange.problem = thrown instanceof Error ? thrown.message : String(thrown);
      exchange.endedMs = performance.now() - began;
      touch();
      throw thrown;
    }
  };
}

/** Records a request before it is sent. */
async function begin(to: string, request: Request): Promise<ConsoleExchange> {
  last += 1;
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  const exchange: ConsoleExchange = {
    n: last,
    to,
    at: Date.now(),
    method: request.method,
    url: request.url,
    headers: [...request.headers].map(([name, value]) => [name, HIDDEN.test(name) ? '•••' : value] as const),
    body: hasBody ? await bodyOf(request.clone()) : '',
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

async function bodyOf(request: Request): Promise<string> {
  return isGrpc(request.headers.get('content-type')) ? grpcBodyIn(new Uint8Array(await request.arrayBuffer())).text : await request.text();
}

/** Reads our copy of a response of gRPC-Web, which is binary. */
async function listenToGrpc(exchange: ConsoleExchange, body: ReadableStream<Uint8Array>, began: number): Promise<void> {
  try {
    const { text, status } = grpcBodyIn(new Uint8Array(await new Response(body).arrayBuffer()));
    exchange.answer = text.slice(0, TEXT_MAX);
    if (status !== undefined) exchange.grpcStatus = status;
  } catch (thrown) {
    exchange.problem = thrown instanceof Error ? thrown.message : String(thrown);
  }
  exchange.endedMs = performance.now() - began;
  touch();
}

/** Reads our copy of the response, up to `TEXT_MAX` characters. */
async function listen(exchange: ConsoleExchange, body: ReadableStream<Uint8Array>, began: number): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  let size = 0;
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      size += piece.value.length;
      if (size > TEXT_MAX) continue; // a long stream is truncated
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

/** Forgets all exchanges. */
export function forgetTraffic(): void {
  exchanges.value = [];
  forgetExchanges();
}

addEventListener('pagehide', () => keepExchanges(exchanges.value));

/** At most once per frame: streams are faster than screens. */
function touch(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    changes.value += 1;
  });
}
