import { isGrpcWeb } from '#bindings';
import type { Fetch } from '#protocol';
import { fetchOverHttp1 } from '../../client/adapters/http1.ts';
import type { OutboundConnectOptions } from './connect.ts';
import { guardedSocket } from './connect.ts';
import { guardedFetch } from './fetch.ts';
import { guardedGrpc } from './grpc.ts';
import type { OutboundLimits } from './port.ts';

/** The connection pool of an `Outbound`. Loaded on first use. */
export interface OutboundTransport {
  fetchWithin(limits: OutboundLimits): Fetch;
  close(): void;
}

/** A connection pool whose sockets go only to checked addresses. */
export function openTransport(options: OutboundConnectOptions): OutboundTransport {
  const http1 = fetchOverHttp1({ connect: guardedSocket(options, ['http/1.1']) });
  const grpc = guardedGrpc(options);
  return {
    fetchWithin: (limits) => {
      const overHttp1 = guardedFetch({ send: http1.fetch, policy: options.policy, limits });
      const overHttp2 = grpc.fetchWithin(limits);
      return (request) => (isGrpcWeb(request.headers.get('content-type')) ? overHttp2(request) : overHttp1(request));
    },
    close: () => {
      grpc.close();
      http1.close();
    },
  };
}
