import { lookup } from 'node:dns/promises';
import { OutboundError } from '../outbound/errors.ts';
import type { TargetRules } from '../outbound/policy.ts';
import { createPolicy } from '../outbound/policy.ts';
import type { Outbound } from '../outbound/port.ts';
import type { Resolve } from '../outbound/resolve.ts';
import { addressesOf } from '../outbound/resolve.ts';
import type { OutboundTransport } from '../outbound/transport.ts';

export { bindCredentials } from '../outbound/credentials.ts';
export { OutboundError, type OutboundReason } from '../outbound/errors.ts';
export type { Outbound, OutboundLimits } from '../outbound/port.ts';

/** Options of `createOutbound`. */
export interface OutboundOptions extends TargetRules {
  /** Time limit of a connection attempt in milliseconds. Default 5,000. */
  readonly connectMsMax?: number;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
}

const CHECK_MS = 2000;

/**
 * Creates the node's way out for requests to addresses that others choose: webhooks, cards, issuer
 * keys. It refuses private addresses, follows no redirects, and limits size and time.
 *
 * ```ts
 * const outbound = createOutbound({ allowedTargets: ['10.1.0.0/16'] });
 * const fetch = outbound.fetchWithin({ bytesMax: 1_048_576, msMax: 10_000 });
 * ```
 */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const { connectMsMax = 5000, resolve = resolveAll } = options;
  const policy = createPolicy(options);
  let opened: Promise<OutboundTransport> | undefined;
  // Loaded with the first request, because it slows down the start and many nodes never send one.
  const transport = (): Promise<OutboundTransport> => {
    opened ??= import('../outbound/transport.ts').then(({ openTransport }) => openTransport({ policy, resolve, connectMsMax }));
    return opened;
  };
  return {
    fetchWithin: (limits) => async (request) => (await transport()).fetchWithin(limits)(request),
    check: async (text) => {
      const url = URL.parse(text);
      if (url === null) throw new OutboundError('target', 'this is not a valid URL');
      policy.checkUrl(url);
      const addresses = await inTime(addressesOf(url, resolve));
      if (addresses !== undefined) policy.checkAddresses(url, addresses);
    },
    close: async () => (await opened)?.close(),
  };
}

async function resolveAll(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/**
 * Undefined if the promise fails or takes too long: the address is then checked when the request is
 * sent.
 */
async function inTime<T>(asked: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), CHECK_MS);
  try {
    return await Promise.race([asked.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
