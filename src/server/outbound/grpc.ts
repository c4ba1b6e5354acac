import type { Fetch } from '#protocol';
import { kept, linkSignals } from '#protocol';
import { grpcOverHttp2 } from '../../bindings/grpc/adapters/http2.ts';
import type { OutboundConnectOptions } from './connect.ts';
import { guardedSocket } from './connect.ts';
import { OutboundError } from './errors.ts';
import type { OutboundLimits } from './port.ts';

/** Sends calls of gRPC over HTTP/2, to checked addresses only. */
export interface GuardedGrpc {
  fetchWithin(limits: OutboundLimits): Fetch;
  close(): void;
}

/** The connections of gRPC, with the same checks and limits as those of HTTP/1.1. */
export function guardedGrpc(options: OutboundConnectOptions): GuardedGrpc {
  const { fetch, close } = grpcOverHttp2(() => Promise.reject(new OutboundError('network', 'this is not a call of gRPC')), {
    connect: guardedSocket(options, ['h2', 'http/1.1']),
  });
  return {
    close,
    fetchWithin: (limits) => async (request) => {
      const deadline = linkSignals([request.signal], limits.msMax);
      try {
        const response = await fetch(kept(new Request(request, { signal: deadline.signal }), deadline.signal));
        return limited(response, limits.bytesMax, () => deadline.release());
      } catch (thrown) {
        deadline.release();
        throw deadline.isLate ? new OutboundError('timeout', 'the response did not arrive in time', { cause: thrown }) : thrown;
      }
    },
  };
}

/** The response, with a body that fails when it exceeds the limit. */
function limited(response: Response, bytesMax: number, ended: () => void): Response {
  if (response.body === null) {
    ended();
    return response;
  }
  const reader = response.body.getReader();
  let length = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const { done, value } = await reader.read();
      length += value?.length ?? 0;
      if (!done && length <= bytesMax) return controller.enqueue(value);
      ended();
      if (done) return controller.close();
      void reader.cancel().catch(() => undefined); // the connection of a refused response
      controller.error(new OutboundError('size', `the response is larger than ${bytesMax} bytes`));
    },
    cancel: async (reason) => {
      ended();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
