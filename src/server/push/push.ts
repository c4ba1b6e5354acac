import type { DeliveryOutcome, Engine, Vault, WebhookSender } from '#engine';
import type { Metrics } from '../observability/metrics.ts';
import type { HandlerOptions } from '../options.ts';
import { createVault } from './credential-vault.ts';
import type { WebhookSigner } from './signing-keys.ts';
import { createWebhookSender } from './webhook-sender.ts';

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** What `pushFor` needs. */
export interface WebhookParts {
  readonly options: HandlerOptions;
  readonly signer: WebhookSigner;
  readonly metrics: Metrics;
  readonly webhookMsMax: number;
}

/** What an engine needs for webhooks. Without `outbound` there are no webhooks. */
export function pushFor({ options, signer, metrics, webhookMsMax: msMax }: WebhookParts): { webhookSender?: WebhookSender; vault?: Vault } {
  const { outbound, keys, store } = options;
  if (outbound === undefined) return {};
  const webhookSender = createWebhookSender({ outbound, signer, msMax, onTried: counted(metrics) });
  // With a persistent store the next process must decrypt the credentials, so a key of this process alone is not enough.
  const sealing = keys?.sealing ?? (store === undefined ? [crypto.getRandomValues(new Uint8Array(32))] : undefined);
  return sealing === undefined ? { webhookSender } : { webhookSender, vault: createVault(sealing) };
}

/** Counts and times delivery attempts. */
function counted(metrics: Metrics): (outcome: DeliveryOutcome, seconds: number) => void {
  const attempts = metrics.counter({
    name: 'parley_webhook_attempts_total',
    help: 'Attempts to deliver to webhooks: delivered, failed, refused or gone.',
    labels: ['outcome'],
  });
  const took = metrics.histogram({ name: 'parley_webhook_seconds', help: 'Duration of a delivery attempt.', buckets: SECONDS });
  return ({ kind }, seconds) => {
    attempts.add([kind]);
    took.observe(seconds);
  };
}

/** Adds gauges of the webhook queues to the metrics. */
export function showWebhooks(engine: Engine, metrics: Metrics): void {
  metrics.gauge({ name: 'parley_webhooks_pending', help: 'Webhook queues that are not empty.' }, () => engine.stats().webhooks.pending);
  metrics.gauge({ name: 'parley_webhooks_sending', help: 'Deliveries in progress.' }, () => engine.stats().webhooks.sending);
  metrics.gauge(
    { name: 'parley_webhook_hosts_tripped', help: 'Hosts that get no deliveries for a while, after too many failures.' },
    () => engine.stats().webhooks.tripped,
  );
  metrics.gauge(
    { name: 'parley_webhook_letters_total', help: 'Deliveries that failed for good.', type: 'counter' },
    () => engine.stats().webhooks.letters,
  );
}
