import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { BlockList } from 'node:net';
import type { HttpResponse } from '#bindings';
import type { UnsentBudget } from '../../access/limits/unsent-budget.ts';
import { createUnsentBudget } from '../../access/limits/unsent-budget.ts';
import { requestIdHeader } from '../../access/request-id.ts';
import type { Handler } from '../../handler.ts';
import type { ServerLimits } from '../../limits.ts';
import type { Log } from '../../observability/log.ts';
import { METRICS } from '../../observability/metric-table.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { NO_SNIFF } from '../../routes/responses.ts';
import { checkHead } from './check-head.ts';
import { ConnectionLimits } from './connection-limits.ts';
import type { Forward, GrpcPort, GrpcPortOptions, GrpcServices } from './grpc-port.ts';
import { createGrpcPort } from './grpc-port.ts';
import { NodeHttpRequest } from './http-request.ts';
import { isElsewhere, keptBody } from './kept-body.ts';
import { drained } from './linger.ts';
import { answerParserErrors } from './parser-errors.ts';
import { oneAtATime } from './pipelined.ts';
import type { TlsOptions } from './tls.ts';
import { httpsOptions } from './tls.ts';
import { watchTlsConnections } from './tls-connections.ts';
import { writeAnswer } from './write-response.ts';

/** Options of `createHttpHost`. */
export interface HttpHostOptions {
  readonly handler: Pick<Handler, 'admit' | 'isServing' | 'respond'>;
  readonly limits: ServerLimits;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tls?: TlsOptions | undefined;
  readonly trusted?: BlockList | undefined;
  readonly limitLoopback?: boolean | undefined;
  /** Serves HTTP/2, gRPC, gRPC-Web and Connect on the same port. Default false. */
  readonly grpc?: boolean | undefined;
  /** The services of gRPC. Default: those of A2A. */
  readonly grpcServices?: GrpcServices | undefined;
  /** Gets the requests that belong to another replica. Absent: this node is the only one. */
  readonly elsewhere?: Forward | undefined;
}

/** Node's HTTP server with a handler behind it. */
export interface HttpHost {
  readonly server: Server;
  readonly isTls: boolean;
  /** The number of requests without a response yet. Open streams do not count. */
  readonly busy: () => number;
  /** From now on, closes each connection after its response. */
  stopKeeping(): void;
  /** Disconnects clients that have no request under way. Those of HTTP/2 finish their streams first. */
  closeIdle(): void;
  /** Disconnects all clients. */
  closeAll(): void;
}

/** Longer than the idle timeout of common proxies, so that the proxy closes idle connections. Otherwise its next request could fail. */
const KEEP_ALIVE_MS = 65_000;

/** Options of `handleRequest`. */
export interface HandleRequestOptions {
  readonly handler: Pick<Handler, 'respond'>;
  readonly limits: Pick<ServerLimits, 'headersMax' | 'streamIdleMsMax'>;
  /** Whether to close the connection after the response. */
  readonly isLast?: () => boolean;
  /** Proxies whose `X-Forwarded-For` header is trusted. */
  readonly trusted?: BlockList | undefined;
  readonly onCut?: () => void;
  /** Limits what slow readers leave unsent. */
  readonly budget?: UnsentBudget;
  readonly connections?: ConnectionLimits;
  readonly elsewhere?: Forward | undefined;
}

/** Handles one request of Node's HTTP server. */
export async function handleRequest(incoming: IncomingMessage, outgoing: ServerResponse, options: HandleRequestOptions): Promise<void> {
  const { elsewhere } = options;
  const request = new NodeHttpRequest(incoming, outgoing, options.trusted);
  if (elsewhere !== undefined) request.elsewhere = keptBody();
  const refused = options.connections?.refuse(incoming, outgoing) ?? checkHead(incoming, options.limits.headersMax);
  const answer = refused === undefined ? await options.handler.respond(request) : refusedAnswer(refused, request);
  if (elsewhere !== undefined && isElsewhere(request)) await elsewhere.request(incoming, outgoing, request);
  else send({ incoming, outgoing, request, answer, isRefused: refused !== undefined }, options);
}

function refusedAnswer(refused: HttpResponse, request: NodeHttpRequest): HttpResponse {
  return { ...refused, headers: { ...refused.headers, ...NO_SNIFF, ...requestIdHeader(request) } };
}

interface AnsweredRequest {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly request: NodeHttpRequest;
  readonly answer: HttpResponse;
  readonly isRefused: boolean;
}

/** Not a part of `handleRequest`: an async function keeps room for everything that it computes until it ends. */
function send({ incoming, outgoing, request, answer, isRefused }: AnsweredRequest, options: HandleRequestOptions): void {
  const { limits, isLast, onCut, budget } = options;
  const isUnread = isLeftUnread(incoming, answer);
  if (answer.body !== null && typeof answer.body !== 'string') request.handOver();
  writeAnswer(outgoing, answer, {
    idleMsMax: limits.streamIdleMsMax,
    isLast: isUnread || isRefused || isLast?.() === true,
    onDelivered: request.delivered,
    onCut,
    budget,
    caller: answer.caller,
    hold: isUnread ? drained(incoming) : undefined,
  });
}

/** Creates Node's HTTP server for a handler, with stricter timeouts and limits than Node's defaults (docs/faults.md, H7 to H9). */
export function createHttpHost(given: HttpHostOptions): HttpHost {
  const { handler, limits, log, metrics, tls, trusted, limitLoopback = false, grpc = false } = given;
  const { grpcServices: services, elsewhere } = given;
  let busy = 0;
  let isStopping = false;
  const cut = metrics.counter(METRICS.streamsCut);
  const dropped = metrics.counter(METRICS.connectionsDropped);
  const budget = createUnsentBudget(limits);
  metrics.gauge(METRICS.unsentBytes, () => budget.bytes);
  const connections = new ConnectionLimits({ limits, trusted, limitLoopback, onRefused: () => dropped.add([]) });
  const shared = { limits, trusted, budget, connections, elsewhere, onCut: () => cut.add([]) };
  const options: HandleRequestOptions = { handler, isLast: () => isStopping, ...shared };

  let port: GrpcPort | undefined;
  const ended = (): void => {
    busy -= 1;
  };
  const track: GrpcPortOptions['track'] = (response, outgoing) => {
    busy += 1;
    response.then(ended, (thrown: unknown) => {
      ended();
      log.error('a request could not be handled', thrown);
      outgoing.destroy();
    });
  };
  const take = oneAtATime((incoming, outgoing) => {
    track(port?.takeHttp1(incoming, outgoing) ?? handleRequest(incoming, outgoing, options), outgoing);
  });
  const server = createNodeServer(given);
  const closeTls = tls === undefined ? undefined : watchTlsConnections(server);
  server.on('request', take);
  server.on('checkExpectation', take); // `checkHead` refuses it
  answerParserErrors(server, (error, socket) => port?.takeHttp2(error, socket) === true);
  server.on('checkContinue', take); // by default Node asks for the body at once, before access is checked
  if (grpc) port = createGrpcPort(server, { handler, services, log, track, isStopping: () => isStopping, ...shared });
  connections.watch(server);
  server.maxConnections = limits.connectionsMax;
  server.on('drop', () => dropped.add([]));
  return {
    server,
    isTls: tls !== undefined,
    busy: () => busy,
    stopKeeping: () => {
      isStopping = true;
    },
    closeIdle: () => {
      server.closeIdleConnections();
      port?.goAway();
    },
    closeAll: () => {
      server.closeAllConnections();
      port?.closeAll();
      closeTls?.();
    },
  };
}

function createNodeServer({ limits, tls, grpc = false }: HttpHostOptions): Server {
  const headersTimeout = Math.min(limits.headerMsMax, limits.requestMsMax);
  const settings = {
    headersTimeout,
    requestTimeout: limits.requestMsMax,
    connectionsCheckingInterval: Math.min(500, limits.requestMsMax),
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  };
  if (tls === undefined) return createServer(settings);
  return createTlsServer({ ...settings, ...httpsOptions(tls, grpc), handshakeTimeout: headersTimeout });
}

/** Whether the response was created before the complete body was read, because the body is too large. */
function isLeftUnread(incoming: IncomingMessage, { status }: HttpResponse): boolean {
  return status === 413 && !incoming.complete;
}
