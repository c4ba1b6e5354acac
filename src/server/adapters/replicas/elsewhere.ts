import type { IncomingHttpHeaders } from 'node:http2';
import type { Readable } from 'node:stream';
import type { HttpRequest } from '#bindings';
import { AG_UI_BODY_BYTES_MAX, ANY_CELL, GRPC_OPERATOR_SERVICES, isGrpcType } from '#bindings';
import type { ServerLimits } from '../../limits.ts';
import { errorAnswer } from '../../routes/responses.ts';
import type { Forward } from '../node/grpc-port.ts';
import type { KeptBody } from '../node/kept-body.ts';
import type { Forwarder } from './forward.ts';
import type { OutsideReply, OutsideRequest } from './outside.ts';
import { answerOutside, http1Reply, http2Reply, requestHeaders } from './outside.ts';

/** A request that this replica has begun to answer, until it turned out that it belongs to another one. */
interface LocalRequest extends HttpRequest {
  readonly elsewhere: KeptBody | undefined;
}

interface Arrival {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  readonly reply: OutsideReply;
}

/** Node ends a request of these methods with its head. A body, even an empty one, would break the stream, and the response would be lost. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** Forwards requests that belong to another replica, after this one found out while it decoded them. */
export function createElsewhere(forwarder: Forwarder, { bodyBytesMax }: Pick<ServerLimits, 'bodyBytesMax'>): Forward {
  const bytesMax = Math.max(bodyBytesMax, AG_UI_BODY_BYTES_MAX);
  const take = async (request: LocalRequest, { headers, body, reply }: Arrival): Promise<void> => {
    const { cell = ANY_CELL, key = '', agent, bytes } = request.elsewhere ?? {};
    try {
      await forwarder.forward({
        ...headOf(request, headers, { key, agent }),
        ...{ cell, reply },
        body: WITHOUT_BODY.has(request.method) ? undefined : (bytes ?? (await bodyOf(request, headers, { body, bytesMax }))),
      });
    } catch (thrown) {
      answerOutside(reply, errorAnswer(thrown)); // the body is too large, or its sender has left
    }
  };
  return {
    request: (incoming, outgoing, request) =>
      take(request, { headers: incoming.headers, body: incoming, reply: http1Reply(incoming, outgoing) }),
    stream: ({ stream, headers }, request) => take(request, { headers, body: stream, reply: http2Reply(stream) }),
  };
}

/** The head of a request, for another replica. `key` is the same for each repetition. */
function headOf(
  request: HttpRequest,
  headers: IncomingHttpHeaders,
  known: Pick<OutsideRequest['facts'], 'key' | 'agent'>,
): Pick<OutsideRequest, 'method' | 'target' | 'host' | 'headers' | 'facts'> {
  const { method, path, query, origin, peer, mountedAt: prefix } = request;
  const facts = { ...known, origin, address: peer?.address, certificate: peer?.certificate, prefix };
  const host = headers[':authority'] ?? headers.host ?? 'localhost';
  return { method, target: query === '' ? path : `${path}?${query}`, host, headers: requestHeaders(headers), facts };
}

interface BodySource {
  readonly body: Readable;
  readonly bytesMax: number;
}

/** The whole body, so that it can be sent twice. Operators' calls of gRPC wait for answers before they send more. */
function bodyOf(request: HttpRequest, headers: IncomingHttpHeaders, { body, bytesMax }: BodySource): Promise<OutsideRequest['body']> {
  const isDialogue = isGrpcType(headers['content-type']) && GRPC_OPERATOR_SERVICES.some((name) => request.path.startsWith(`/${name}/`));
  if (isDialogue) return Promise.resolve(body);
  return request.body(bytesMax);
}
