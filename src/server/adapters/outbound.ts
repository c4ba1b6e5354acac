import { lookup } from 'node:dns/promises';
import { Agent } from 'undici';
import type { ConnectOptions } from '../outbound/connect.ts';
import { addressesOf, guardedConnector } from '../outbound/connect.ts';
import { OutboundError } from '../outbound/errors.ts';
import { guardedFetch } from '../outbound/fetch.ts';
import type { PolicyOptions } from '../outbound/policy.ts';
import { createPolicy } from '../outbound/policy.ts';
import type { Outbound } from '../outbound/port.ts';

export { bindCredentials } from '../outbound/credentials.ts';
export { OutboundError, type OutboundReason } from '../outbound/errors.ts';
export type { Outbound, OutboundLimits } from '../outbound/port.ts';

export interface OutboundOptions extends PolicyOptions {
  /** To an open connection. Default 5 s. */
  readonly connectMsMax?: number;
  /** Default: the system's resolver. */
  readonly resolve?: ConnectOptions['resolve'];
}

const CHECK_MS = 2000;

export function createOutbound(options: OutboundOptions = {}): Outbound {
  const { connectMsMax = 5000, resolve = resolveAll } = options;
  const policy = createPolicy(options);
  const agent = new Agent({
    connect: guardedConnector({ policy, resolve, connectMsMax }),
    pipelining: 1,
    keepAliveTimeout: 10_000,
    keepAliveMaxTimeout: 30_000,
    maxHeaderSize: 16_384,
  });
  return {
    fetchWithin: (limits) => guardedFetch({ agent, policy, limits }),
    check: async (text) => {
      const url = URL.parse(text);
      if (url === null) throw new OutboundError('target', 'this is not an address');
      policy.checkUrl(url);
      const addresses = await inTime(addressesOf(url, resolve));
      if (addresses !== undefined) policy.checkAddresses(url, addresses);
    },
    close: () => agent.destroy(),
  };
}

async function resolveAll(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** What could not be found out in time, or at all, is found out when it is needed. */
async function inTime<T>(asked: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), CHECK_MS);
  try {
    return await Promise.race([asked.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
