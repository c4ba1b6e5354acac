import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http2';
import type { BlockList } from 'node:net';
import type { Readable } from 'node:stream';
import type { HttpRequest, HttpResponse } from '#bindings';
import { AG_UI_BODY_BYTES_MAX, GRPC_OPERATOR_SERVICES, isGrpcType } from '#bindings';
import { createAccess } from '../../access/access.ts';
import { createHostOriginCheck } from '../../access/host-origin.ts';
import { NO_AUDIT } from '../../audit/audit.ts';
import type { ServerLimits } from '../../limits.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { METRICS_TYPE } from '../../observability/metrics.ts';
import type { ServingOptions } from '../../options.ts';
import { errorAnswer, json, refusal, retryAfter, text } from '../../routes/responses.ts';
import { ROUTES } from '../../routes/routes.ts';
import type { Forward } from '../node/grpc-port.ts';
import { NodeHttpRequest } from '../node/http-request.ts';
import type { Forwarder } from './forward.ts';
import type { OutsideReply, OutsideRequest } from './outside.ts';
import { answerOutside, http1Reply, http2Reply, requestHeaders } from './outside.ts';

/** What a replica that stands by knows of its place. */
export interface StandbyPlace {
  /** The address of the owner, for people, if it can be reached or could until a moment ago. */
  reachableOwner(): Promise<string | undefined>;
}

/** Options of `createStandby`. */
export interface StandbyOptions extends StandbyPlace {
  readonly forwarder: Forwarder;
  readonly serving: Pick<ServingOptions, 'auth' | 'authenticate' | 'url' | 'allowedHosts' | 'allowedOrigins'>;
  readonly limits: ServerLimits;
  readonly metrics: Metrics;
  readonly trusted: BlockList | undefined;
  /** The node is about to end. */
  readonly isLeaving: () => boolean;
}

interface Arrived {
  readonly request: HttpRequest;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  readonly reply: OutsideReply;
}

/** What a replica does with requests while another one owns the tasks: it answers for itself, and forwards everything else. */
export function createStandby(options: StandbyOptions): Forward {
  const { forwarder, limits } = options;
  const hosts = createHostOriginCheck(options.serving);
  const own = ownRoutes(options);
  const bytesMax = Math.max(limits.bodyBytesMax, AG_UI_BODY_BYTES_MAX);
  const take = async ({ request, headers, body, reply }: Arrived): Promise<void> => {
    const asked = `${request.method === 'HEAD' ? 'GET' : request.method} ${request.path}`;
    const answer = hosts.refuse(request) ?? (await own.get(asked)?.(request));
    if (answer !== undefined) {
      answerOutside(reply, answer);
      return;
    }
    try {
      await forwarder.forward({ ...headOf(request, headers), reply, body: await bodyOf(request, headers, { body, bytesMax }) });
    } catch (thrown) {
      answerOutside(reply, errorAnswer(thrown)); // the body is too large, or its sender has left
    }
  };
  return {
    request: (incoming, outgoing) => {
      const request = new NodeHttpRequest(incoming, outgoing, options.trusted);
      return take({ request, headers: incoming.headers, body: incoming, reply: http1Reply(incoming, outgoing) });
    },
    stream: ({ stream, headers }, request) => take({ request, headers, body: stream, reply: http2Reply(stream) }),
  };
}

function headOf(
  request: HttpRequest,
  headers: IncomingHttpHeaders,
): Pick<OutsideRequest, 'method' | 'target' | 'host' | 'headers' | 'facts'> {
  const { method, path, query, origin, peer, mountedAt: prefix } = request;
  const facts = { key: randomUUID(), origin, address: peer?.address, certificate: peer?.certificate, prefix };
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
  const { method } = request;
  return method === 'GET' || method === 'HEAD' ? Promise.resolve(undefined) : request.body(bytesMax);
}

type OwnRoute = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
const NO_STORE = { 'Cache-Control': 'no-store' };

/** What every replica answers about itself. */
function ownRoutes({ serving, limits, metrics, reachableOwner, isLeaving }: StandbyOptions): ReadonlyMap<string, OwnRoute> {
  const access = createAccess({ options: serving, limits, audit: NO_AUDIT, refuseWhileStopping: () => undefined });
  const metricsRoute = ROUTES.find(({ name }) => name === 'metrics');
  return new Map<string, OwnRoute>([
    ['GET /healthz', () => json({ status: 'ok' }, 200, NO_STORE)],
    [
      'GET /readyz',
      async () => {
        const owner = isLeaving() ? undefined : await reachableOwner();
        if (owner !== undefined) return json({ status: 'ready', role: 'standby', owner }, 200, NO_STORE);
        const message = isLeaving() ? 'the node shuts down; send requests to another one' : 'the node that serves can not be reached';
        return json({ status: isLeaving() ? 'draining' : 'waiting', role: 'standby', message }, 503, { ...NO_STORE, ...retryAfter(1000) });
      },
    ],
    [
      'GET /metrics',
      async (request) => {
        const { response } = await access.check(request, () => metricsRoute);
        return response ?? (metricsRoute === undefined ? refusal(404, 'this node has no metrics') : text(metrics.text(), METRICS_TYPE));
      },
    ],
  ]);
}
