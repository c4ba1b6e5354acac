import { afterAll } from 'vitest';
import type { Receiver } from '../../support/receiver.ts';
import { startReceiver } from '../../support/receiver.ts';

let started: Promise<Receiver> | undefined;
afterAll(async () => (await started)?.close());

/** The webhook that all callers of a test file name. It listens from its first use on. */
export function callersWebhook(): Promise<Receiver> {
  started ??= startReceiver();
  return started;
}
