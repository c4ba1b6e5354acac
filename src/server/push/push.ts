import type { DeliveryOutcome, Engine, Vault, WebhookSender, WebhookStats } from '#engine';
import { METRICS } from '../observability/metric-table.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { HandlerOptions } from '../options.ts';
import { createVault } from './credential-vault.ts';
import type { DeliveryLog, TriedDelivery } from './delivery-log.ts';
import type { WebhookSigner } from './signing-keys.ts';
import { createWebhookSender } from './webhook-sender.ts';

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** What `pushFor` needs. */
export interface WebhookParts {
  readonly options: HandlerOptions;
  readonly signer: WebhookSigner;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly webhookMsMax: number;
  readonly deliveryLog: DeliveryLog;
}

/** What an engine needs for webhooks. Without `outbound` there are no webhooks. */
export function pushFor({ options, signer, metrics, tracing, webhookMsMax: msMax, deliveryLog }: WebhookParts): {
  webhookSender?: WebhookSender;
  vault?: Vault;
} {
  const { outbound, keys, store } = options;
  if (outbound === undefined) return {};
  const count = counted(metrics);
  const onTried = (tried: TriedDelivery): void => {
    count(tried.outcome, tried.ms / 1000);
    deliveryLog.add(tried);
  };
  const webhookSender = createWebhookSender({ outbound, signer, msMax, tracing, onTried });
  // With a persistent store the next process must decrypt the credentials, so a key of this process alone is not enough.
  const sealing = keys?.sealing ?? (store === undefined ? [crypto.getRandomValues(new Uint8Array(32))] : undefined);
  return sealing === undefined ? { webhookSender } : { webhookSender, vault: createVault(sealing) };
}

/** Counts and times delivery attempts. */
function counted(metrics: Metrics): (outcome: DeliveryOutcome, seconds: number) => void {
  const attempts = metrics.counter(METRICS.webhookAttempts);
  const took = metrics.histogram({ ...METRICS.webhookSeconds, buckets: SECONDS });
  return ({ kind }, seconds) => {
    attempts.add([kind]);
    took.observe(seconds);
  };
}

/** Adds gauges of the webhook queues to the metrics. */
export function showWebhooks(engine: Engine, metrics: Metrics): void {
  const stats = (): WebhookStats => engine.stats().webhooks;
  metrics.gauge(METRICS.webhooksPending, () => stats().pending);
  metrics.gauge(METRICS.webhookOldestSeconds, () => stats().oldestMs / 1000);
  metrics.gauge(METRICS.webhooksSending, () => stats().sending);
  metrics.gauge(METRICS.webhookHostsTripped, () => stats().tripped);
  metrics.gauge(METRICS.webhookLetters, () => stats().letters);
}
