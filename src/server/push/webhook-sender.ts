import type { DeliveryOutcome, WebhookDelivery, WebhookSender } from '#engine';
import type { Fetch } from '#protocol';
import { kept, WEBHOOK_HEADERS } from '#protocol';
import type { Tracing } from '../observability/tracing.ts';
import { tracedDelivery } from '../observability/tracing.ts';
import { OutboundError } from '../outbound/errors.ts';
import type { Outbound } from '../outbound/port.ts';
import type { WebhookSigner } from './signing-keys.ts';

/** Options of `createWebhookSender`. */
export interface WebhookSenderOptions {
  readonly outbound: Outbound;
  readonly signer: WebhookSigner;
  readonly msMax: number;
  readonly now?: () => Date;
  readonly tracing?: Tracing;
  /** Called after each attempt with its outcome and duration in seconds. */
  readonly onTried?: (outcome: DeliveryOutcome, seconds: number) => void;
}

/** How much of a response is read to keep the connection reusable. Its content is ignored. */
const RESPONSE_BYTES_MAX = 16_384;
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
      const outcome = await tracedDelivery(tracing, delivery, async (trace) =>
        post(fetch, await requestFor({ ...delivery, ...(trace === undefined ? {} : { trace }) }, { signer, signal, now: now() }), signal),
      );
      onTried?.(outcome, (performance.now() - began) / 1000);
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
async function post(fetch: Fetch, request: Request, signal: AbortSignal): Promise<DeliveryOutcome> {
  try {
    const response = await fetch(request);
    const outcome = outcomeOf(response);
    await letGo(response);
    return outcome;
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const problem = thrown instanceof Error ? thrown.message : String(thrown);
    return { kind: thrown instanceof OutboundError && thrown.reason === 'target' ? 'refused' : 'failed', problem };
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

/** Reads a short response, so that its connection can be reused. Cancels any other. */
async function letGo(response: Response): Promise<void> {
  const length = response.headers.get('Content-Length');
  try {
    if (length !== null && Number(length) <= RESPONSE_BYTES_MAX) await response.arrayBuffer();
    else await response.body?.cancel();
  } catch {
    // The content of the response does not matter.
  }
}
