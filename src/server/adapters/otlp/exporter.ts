import { setTimeout as sleep } from 'node:timers/promises';
import type { OtlpTarget } from './environment.ts';
import type { OtlpOutcome, OtlpSender } from './grpc.ts';
import { grpcSender } from './grpc.ts';
import type { OtlpRequestName } from './protobuf.ts';
import { otlpBytes } from './protobuf.ts';

/** What an exporter of one signal needs. */
export interface ExporterOptions<T> {
  readonly target: OtlpTarget;
  readonly name: OtlpRequestName;
  /** The request for these items. */
  readonly request: (items: readonly T[]) => object;
  readonly everyMs: number;
  /** Called when items could not be sent, once until it works again. */
  readonly onProblem: (problem: string) => void;
}

/** Sends items of one signal in batches. */
export interface BatchExporter<T> {
  add(item: T): void;
  /** Sends what has gathered. Never rejects. */
  flush(): Promise<void>;
  /** Sends the rest and stops. A receiver that does not answer is not waited for. */
  close(): Promise<void>;
}

/** As the SDKs: what does not fit is dropped, so that an unreachable receiver does not fill the memory. */
const QUEUED_MAX = 2048;
const BATCH_MAX = 512;
const CLOSE_MS = 3000;
/** OTLP/HTTP: the receiver may work again soon. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Starts without items. */
export function createExporter<T>({ target, name, request, everyMs, onProblem }: ExporterOptions<T>): BatchExporter<T> {
  /** What has gathered, without what is being sent: an overflow drops the oldest of these, and never an item of the request. */
  let queue: T[] = [];
  let isFailing = false;
  let sending: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const sender = target.protocol === 'grpc' ? grpcSender(target, name) : httpSender(target, name);
  const send = async (): Promise<void> => {
    while (queue.length > 0) {
      const items = queue.splice(0, BATCH_MAX);
      const outcome = await sender.send(request(items));
      if (outcome !== undefined && !isFailing) onProblem(outcome.problem);
      isFailing = outcome !== undefined;
      // What the receiver refuses for good is dropped.
      if (outcome?.mayRetry !== true) continue;
      queue = [...items, ...queue].slice(-QUEUED_MAX);
      return;
    }
  };
  const begin = (): Promise<void> => {
    next = undefined;
    sending = send().finally(() => {
      sending = undefined;
    });
    return sending;
  };
  // At most one waits for the one that runs: a receiver that does not answer would make the queue of them long.
  const flush = (): Promise<void> => {
    if (sending === undefined) return begin();
    next ??= sending.then(begin);
    return next;
  };
  const timer = setInterval(() => void flush(), everyMs).unref();
  return {
    add: (item) => {
      if (queue.length >= QUEUED_MAX) queue.shift();
      queue.push(item);
      if (queue.length === BATCH_MAX) void flush();
    },
    flush,
    close: async () => {
      clearInterval(timer);
      await Promise.race([flush(), sleep(CLOSE_MS, undefined, { ref: false })]);
      sender.close();
    },
  };
}

function httpSender(target: OtlpTarget, name: OtlpRequestName): OtlpSender {
  return { send: (request) => post(target, name, request), close: () => {} };
}

async function post({ url, headers, protocol, timeoutMs }: OtlpTarget, name: OtlpRequestName, request: object): Promise<OtlpOutcome> {
  const isJson = protocol === 'http/json';
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': isJson ? 'application/json' : 'application/x-protobuf' },
      body: isJson ? JSON.stringify(request) : new Uint8Array(otlpBytes(name, request)),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return response.ok ? undefined : { problem: `HTTP ${response.status}`, mayRetry: RETRIED.has(response.status) };
  } catch (thrown) {
    const { cause } = thrown as { readonly cause?: unknown };
    const reason = cause instanceof Error ? cause.message : thrown instanceof Error ? thrown.message : String(thrown);
    return { problem: reason, mayRetry: true };
  }
}
