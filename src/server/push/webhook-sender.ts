import type { DeliveryOutcome, WebhookDelivery, WebhookSender } from '#engine';
import type { Fetch } from '#protocol';
import { kept, WEBHOOK_HEADERS } from '#protocol';
import type { Tracing } from '../observability/tracing.ts';
import { tracedDelivery } from '../observability/tracing.ts';
import { OutboundError } from '../outbound/errors.ts';
import type { Outbound } from '../outbound/port.ts';
import type { TriedDelivery, WebhookAnswer } from './delivery-log.ts';
import type { WebhookSigner } from './signing-keys.ts';

/** Options of `createWebhookSender`. */
export interface WebhookSenderOptions {
  readonly outbound: Outbound;
  readonly signer: WebhookSigner;
  readonly msMax: number;
  readonly now?: () => Date;
  readonly tracing?: Tracing;
  /** Called after each attempt. */
  readonly onTried?: (tried: TriedDelivery) => void;
}

/** How much of a response is read to keep the connection reusable. Its content is ignored. */
const RESPONSE_BYTES_MAX = 16_384;
/** How long to wait for the start of a response of unknown length, which only the log shows. */
const START_MS_MAX = 200;
/** Client errors that are temporary, so the delivery is retried. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Posts signed messages to webhooks, through the node's outbound policy. */
export function createWebhookSender({
  outbound,
  signer,
  msMax,
  now = () => new Date(),
  onTried,
  tracing,
}: WebhookSenderOptions): WebhookSender {
  const fetch = outbound.fetchWithin({ bytesMax: RESPONSE_BYTES_MAX, msMax });
  return {
    check: (url) => outbound.check(url),
    send: async (delivery, signal) => {
      const began = performance.now();
      const seen: { sent?: Headers; answer?: WebhookAnswer } = {};
      const outcome = await tracedDelivery(tracing, delivery, async (trace) => {
        const request = await requestFor({ ...delivery, ...(trace === undefined ? {} : { trace }) }, { signer, signal, now: now() });
        seen.sent = request.headers;
        const { outcome: given, answer } = await post(fetch, request, signal);
        if (answer !== undefined) seen.answer = answer;
        return given;
      });
      onTried?.({ delivery, outcome, ms: performance.now() - began, sent: seen.sent, answer: seen.answer });
      return outcome;
    },
  };
}

interface Posting {
  readonly signer: WebhookSigner;
  readonly signal: AbortSignal;
  readonly now: Date;
}

/**
 * The signed request of a delivery. The timestamp is that of the attempt, so it differs between
 * attempts.
 */
async function requestFor(delivery: WebhookDelivery, { signer, signal, now }: Posting): Promise<Request> {
  const { id, url, mediaType, body, token, authentication, trace } = delivery;
  const timestamp = Math.floor(now.getTime() / 1000);
  const headers = new Headers({
    'Content-Type': mediaType,
    [WEBHOOK_HEADERS.id]: id,
    [WEBHOOK_HEADERS.timestamp]: String(timestamp),
    [WEBHOOK_HEADERS.signature]: await signer.sign({ id, timestamp, body }),
  });
  if (trace !== undefined) headers.set('traceparent', trace.traceparent);
  if (trace?.tracestate !== undefined) headers.set('tracestate', trace.tracestate);
  if (token !== undefined) headers.set(WEBHOOK_HEADERS.token, token);
  // A2A 1.0.1 §4.3.3: `Authorization: {scheme} {credentials}`.
  if (authentication?.credentials !== undefined) headers.set('Authorization', `${authentication.scheme} ${authentication.credentials}`);
  return kept(new Request(url, { method: 'POST', headers, body, signal, redirect: 'manual' }));
}

/** Sends the request. Rejects only when the delivery is aborted. */
async function post(
  fetch: Fetch,
  request: Request,
  signal: AbortSignal,
): Promise<{ readonly outcome: DeliveryOutcome; readonly answer?: WebhookAnswer }> {
  try {
    const response = await fetch(request);
    const outcome = outcomeOf(response);
    const { status, headers } = response;
    return { outcome, answer: { status, headers, body: await letGo(response) } };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const problem = thrown instanceof Error ? thrown.message : String(thrown);
    return { outcome: { kind: thrown instanceof OutboundError && thrown.reason === 'target' ? 'refused' : 'failed', problem } };
  }
}

/** What a status means: 2xx delivered, 410 gone, temporary errors are retried, other 4xx are not. */
function outcomeOf({ status, headers }: Response): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const problem = status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
  if (status === 410) return { kind: 'gone', problem };
  if (status >= 400 && status < 500 && !TEMPORARY.has(status)) return { kind: 'refused', problem };
  const retryAfterMs = retryAfterIn(headers.get('Retry-After'));
  return { kind: 'failed', problem, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Parses `Retry-After` (RFC 9110 §10.2.3): seconds or a date. */
function retryAfterIn(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** The first piece of a body of unknown length, if it comes at once. The rest is not read. */
async function startOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const reader = body?.getReader();
  if (reader === undefined) return '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), START_MS_MAX);
  });
  try {
    const { value } = (await Promise.race([reader.read(), late])) ?? {};
    return value === undefined ? '' : new TextDecoder().decode(value);
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => undefined); // it has ended, or nobody needs it
  }
}

/** Reads a short response, so that its connection can be reused, for the log. Cancels any other. */
async function letGo(response: Response): Promise<string> {
  const length = response.headers.get('Content-Length');
  try {
    if (length !== null && Number(length) <= RESPONSE_BYTES_MAX) return await response.text();
    return await startOf(response.body);
  } catch {
    // The content of the response changes nothing.
  }
  return '';
}
