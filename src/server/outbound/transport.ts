import { Agent } from 'undici';
import { isGrpcWeb } from '#bindings';
import type { Fetch } from '#protocol';
import type { OutboundConnectOptions } from './connect.ts';
import { guardedConnector } from './connect.ts';
import { guardedFetch } from './fetch.ts';
import { guardedGrpc } from './grpc.ts';
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
  const grpc = guardedGrpc(options);
  return {
    fetchWithin: (limits) => {
      const overHttp1 = guardedFetch({ agent, policy: options.policy, limits });
      const overHttp2 = grpc.fetchWithin(limits);
      return (request) => (isGrpcWeb(request.headers.get('content-type')) ? overHttp2(request) : overHttp1(request));
    },
    close: async () => {
      grpc.close();
      await agent.destroy();
    },
  };
}
