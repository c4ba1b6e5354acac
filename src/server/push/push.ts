import type { DeliveryOutcome, Engine, Vault, WebhookSender } from '#engine';
import type { Metrics } from '../observability/metrics.ts';
import type { HandlerOptions } from '../options.ts';
import { createVault } from './credential-vault.ts';
import type { WebhookSigner } from './signing-keys.ts';
import { createWebhookSender } from './webhook-sender.ts';

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export interface PushParts {
  readonly options: HandlerOptions;
  readonly signer: WebhookSigner;
  readonly metrics: Metrics;
  readonly webhookMsMax: number;
}

/** What an engine needs for webhooks; without a way out there are none. */
export function pushFor({ options, signer, metrics, webhookMsMax: msMax }: PushParts): { webhookSender?: WebhookSender; vault?: Vault } {
  const { outbound, keys, store } = options;
  if (outbound === undefined) return {};
  const webhookSender = createWebhookSender({ outbound, signer, msMax, onTried: counted(metrics) });
  // A store outlives the process, and what it keeps must be opened by the next one; memory does not.
  const sealing = keys?.sealing ?? (store === undefined ? [crypto.getRandomValues(new Uint8Array(32))] : undefined);
  return sealing === undefined ? { webhookSender } : { webhookSender, vault: createVault(sealing) };
}

function counted(metrics: Metrics): (outcome: DeliveryOutcome, seconds: number) => void {
  const attempts = metrics.counter({
    name: 'parley_webhook_attempts_total',
    help: 'Attempts to deliver to webhooks: delivered, failed, refused or gone.',
    labels: ['outcome'],
  });
  const took = metrics.histogram({ name: 'parley_webhook_seconds', help: 'How long an attempt took.', buckets: SECONDS });
  return ({ kind }, seconds) => {
    attempts.add([kind]);
    took.observe(seconds);
  };
}

export function showWebhooks(engine: Engine, metrics: Metrics): void {
  metrics.gauge(
    { name: 'parley_webhooks_pending', help: 'Queues of webhooks with something in them.' },
    () => engine.stats().webhooks.pending,
  );
  metrics.gauge({ name: 'parley_webhooks_sending', help: 'Deliveries under way.' }, () => engine.stats().webhooks.sending);
  metrics.gauge({ name: 'parley_webhook_hosts_tripped', help: 'Receivers left alone for a while.' }, () => engine.stats().webhooks.tripped);
  metrics.gauge(
    { name: 'parley_webhook_letters_total', help: 'Deliveries that were given up on.', type: 'counter' },
    () => engine.stats().webhooks.letters,
  );
}
