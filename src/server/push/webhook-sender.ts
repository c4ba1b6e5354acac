import type { DeliveryOutcome, WebhookDelivery, WebhookSender } from '#engine';
import type { Fetch } from '#protocol';
import { kept, WEBHOOK_HEADERS } from '#protocol';
import { OutboundError } from '../outbound/errors.ts';
import type { Outbound } from '../outbound/port.ts';
import type { WebhookSigner } from './signing-keys.ts';

export interface WebhookSenderOptions {
  readonly outbound: Outbound;
  readonly signer: WebhookSigner;
  readonly msMax: number;
  readonly now?: () => Date;
  /** How each attempt went, and how long it took in seconds. */
  readonly onTried?: (outcome: DeliveryOutcome, seconds: number) => void;
}

/** What is read of an answer that nobody wants, for the sake of the connection. */
const ANSWER_BYTES_MAX = 16_384;
/** Refusals that are about the moment, not about the message. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

/** Posts signed messages to webhooks, through the guard. */
export function createWebhookSender({ outbound, signer, msMax, now = () => new Date(), onTried }: WebhookSenderOptions): WebhookSender {
  const fetch = outbound.fetchWithin({ bytesMax: ANSWER_BYTES_MAX, msMax });
  return {
    check: (url) => outbound.check(url),
    send: async (delivery, signal) => {
      const began = performance.now();
      const outcome = await post(fetch, await requestFor(delivery, { signer, signal, now: now() }), signal);
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

async function requestFor(delivery: WebhookDelivery, { signer, signal, now }: Posting): Promise<Request> {
  const { id, url, mediaType, body, token, authentication } = delivery;
  const timestamp = Math.floor(now.getTime() / 1000);
  const headers = new Headers({
    'Content-Type': mediaType,
    [WEBHOOK_HEADERS.id]: id,
    [WEBHOOK_HEADERS.timestamp]: String(timestamp),
    [WEBHOOK_HEADERS.signature]: await signer.sign({ id, timestamp, body }),
  });
  if (token !== undefined) headers.set(WEBHOOK_HEADERS.token, token);
  // A2A 1.0.1 §4.3.3: `Authorization: {scheme} {credentials}`.
  if (authentication?.credentials !== undefined) headers.set('Authorization', `${authentication.scheme} ${authentication.credentials}`);
  return kept(new Request(url, { method: 'POST', headers, body, signal, redirect: 'manual' }));
}

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

function outcomeOf({ status, headers }: Response): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const problem = `HTTP ${status}`;
  if (status === 410) return { kind: 'gone', problem };
  if (status >= 400 && status < 500 && !PASSING.has(status)) return { kind: 'refused', problem };
  const retryAfterMs = retryAfterIn(headers.get('Retry-After'));
  return { kind: 'failed', problem, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterIn(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** A short answer is read so that its connection can serve again; any other is dropped where it stands. */
async function letGo(response: Response): Promise<void> {
  const length = response.headers.get('Content-Length');
  try {
    if (length !== null && Number(length) <= ANSWER_BYTES_MAX) await response.arrayBuffer();
    else await response.body?.cancel();
  } catch {
    // What it says does not matter, only that it was taken.
  }
}
