import { Agent } from 'undici';
import type { Fetch } from '#protocol';
import type { OutboundConnectOptions } from './connect.ts';
import { guardedConnector } from './connect.ts';
import { guardedFetch } from './fetch.ts';
import type { OutboundLimits } from './port.ts';

/** The connection pool of an `Outbound`. Loaded on first use, because undici takes time to load. */
export interface OutboundTransport {
  fetchWithin(limits: OutboundLimits): Fetch;
  close(): Promise<void>;
}

/** A connection pool whose sockets go only to checked addresses. */
export function openTransport(options: OutboundConnectOptions): OutboundTransport {
  const agent = new Agent({
    connect: guardedConnector(options),
    pipelining: 1,
    keepAliveTimeout: 10_000,
    keepAliveMaxTimeout: 30_000,
    maxHeaderSize: 16_384,
  });
  return { fetchWithin: (limits) => guardedFetch({ agent, policy: options.policy, limits }), close: () => agent.destroy() };
}
