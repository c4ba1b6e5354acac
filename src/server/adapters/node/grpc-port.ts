import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { BlockList, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { GrpcHost, HttpResponse } from '#bindings';
import { GRPC_SERVICES, isConnectType, isGrpcType } from '#bindings';
import type { ConnectMethods, ConnectRoad } from '../../../bindings/grpc/adapters/connect.ts';
import type { DirectMethods } from '../../../bindings/grpc/adapters/direct-methods.ts';
import { HealthWatches } from '../../access/limits/health-watches.ts';
import type { UnsentBudget, UnsentResponse } from '../../access/limits/unsent-budget.ts';
import { requestIdHeader, requestIdOf } from '../../access/request-id.ts';
import type { Handler } from '../../handler.ts';
import type { ServerLimits } from '../../limits.ts';
import type { Log } from '../../observability/log.ts';
import { errorOfRefusal } from '../../routes/admit-call.ts';
import { NO_SNIFF } from '../../routes/responses.ts';
import { checkHead, checkHttp2Head } from './check-head.ts';
import type { ConnectSink } from './connect-answer.ts';
import { http1Sink, http2Sink, withFirstPiece, writeConnectAnswer } from './connect-answer.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { GrpcDrivers } from './grpc-drivers.ts';
import { loadGrpcDrivers } from './grpc-drivers.ts';
import { NodeHttpRequest } from './http-request.ts';
import { writeHttp2Answer } from './http2-answer.ts';
import type { Http2Host, ReceivedStream } from './http2-host.ts';
import { Http2HttpRequest } from './http2-request.ts';
import { isElsewhere, keptBody } from './kept-body.ts';
import { drained } from './linger.ts';
import type { ParserError } from './one-port.ts';
import { shareTlsPort, takeHttp2 } from './one-port.ts';

/** Lets another replica answer a request. */
export interface Forward {
  request(incoming: IncomingMessage, outgoing: ServerResponse, request: NodeHttpRequest): Promise<void>;
  stream(received: Pick<ReceivedStream, 'stream' | 'headers'>, request: Http2HttpRequest): Promise<void>;
}

/** Services that a port serves. */
export interface GrpcServices {
  readonly names: readonly string[];
  /** The methods of gRPC. */
  readonly methods: DirectMethods;
  /** The methods of gRPC-Web and Connect. */
  readonly addMethods: ConnectMethods;
}

/** Options of `createGrpcPort`. */
export interface GrpcPortOptions {
  readonly handler: Pick<Handler, 'admit' | 'isServing' | 'respond'>;
  /** Default: those of A2A, health checks and reflection. */
  readonly services?: GrpcServices | undefined;
  readonly limits: ServerLimits;
  readonly log: Log;
  readonly trusted: BlockList | undefined;
  readonly budget: UnsentBudget;
  readonly connections: ConnectionLimits;
  readonly onCut: () => void;
  /** Whether to close each connection after its response. */
  readonly isStopping: () => boolean;
  /** Counts a request until its response is complete, and destroys the response if the request can't be handled. Never rejects. */
  readonly track: (response: Promise<void>, outgoing: { destroy(): unknown }) => void;
  readonly elsewhere?: Forward | undefined;
}

/** HTTP/2 beside HTTP/1.1 on the port of a server, and gRPC, gRPC-Web and Connect on both. */
export interface GrpcPort {
  /** Serves a connection on which Node's parser found the beginning of HTTP/2. False: it found something else. */
  takeHttp2(error: ParserError, socket: Duplex): boolean;
  /** Answers a request of HTTP/1.1 if it is one of Connect or gRPC-Web. Undefined: it is none. */
  takeHttp1(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> | undefined;
  /** Asks clients of HTTP/2 to send no more requests. */
  goAway(): void;
  /** Disconnects clients of HTTP/2. */
  closeAll(): void;
}

/** Adds HTTP/2 and gRPC to a server. */
export function createGrpcPort(server: Server, options: GrpcPortOptions): GrpcPort {
  const { limits } = options;
  const { host, connectRoad, isConnectCall, serve } = createStreamServer(options);
  const serveStream = async (received: ReceivedStream): Promise<void> => {
    const { stream, headers, socket } = received;
    const request = new Http2HttpRequest(stream, headers, { socket, trusted: options.trusted, bodyMsMax: limits.requestMsMax });
    request.onClose(received.onClosed);
    const refused = refuseStream(received, options);
    if (options.elsewhere !== undefined) request.elsewhere = keptBody();
    if (await serve({ stream, request, headers, refused })) await options.elsewhere?.stream(received, request);
  };
  const onStream = (received: ReceivedStream): void => options.track(serveStream(received), received.stream);
  const http2 = lateHttp2Host(options, onStream);
  if (server.listenerCount('secureConnection') > 0) shareTlsPort(server, (socket) => void http2.serve(socket));
  return {
    takeHttp2: (error, socket) => {
      const taken = takeHttp2(error, socket);
      if (taken !== undefined) void http2.serve(taken);
      return taken !== undefined;
    },
    takeHttp1: (incoming, outgoing) => {
      const { method, url = '', headers } = incoming;
      if (!isConnectCall({ method, path: pathOf(url), type: headers['content-type'] })) return undefined;
      const request = new NodeHttpRequest(incoming, outgoing, options.trusted);
      if ((options.connections.refuse(incoming, outgoing) ?? checkHead(incoming, limits.headersMax)) !== undefined) return undefined;
      const isLast = (): boolean => options.isStopping() || !incoming.complete;
      const sink = http1Sink(outgoing, {
        isLast,
        hold: () => (incoming.complete ? undefined : drained(incoming)),
        onDelivered: () => request.delivered?.(),
      });
      if (options.elsewhere !== undefined) request.elsewhere = keptBody();
      const serveCall = async (): Promise<void> => {
        if (await answerConnect(await connectRoad(), request, { sink, host }))
          await options.elsewhere?.request(incoming, outgoing, request);
      };
      return serveCall();
    },
    goAway: () => http2.host()?.goAway(),
    closeAll: () => http2.host()?.closeAll(),
  };
}

/** A request on a stream of HTTP/2, to be answered. */
export interface ServedStream extends Pick<ReceivedStream, 'stream' | 'headers'> {
  readonly request: Http2HttpRequest;
  readonly refused?: HttpResponse | undefined;
}

/** What answers requests on streams of HTTP/2. */
export interface StreamServer {
  readonly host: GrpcHost;
  readonly connectRoad: LateDrivers['connectRoad'];
  readonly isConnectCall: (call: ConnectCall) => boolean;
  /** Answers by gRPC, Connect or the handler, as the request wants. True: it did not, because the request belongs to another replica. */
  serve(served: ServedStream): Promise<boolean>;
}

/** Answers requests on streams of HTTP/2, whichever connection they are on. `write`: how other answers than those of gRPC are written. */
export function createStreamServer(
  options: Pick<GrpcPortOptions, 'handler' | 'services' | 'limits' | 'budget' | 'onCut'>,
  write: typeof writeHttp2Answer = writeHttp2Answer,
): StreamServer {
  const { limits, services } = options;
  const host = grpcHost(options);
  const { loaded, connectRoad } = lateDrivers(host, services);
  const isConnectCall = connectCallOf(services?.names ?? GRPC_SERVICES);
  const serve = async ({ stream, request, headers, refused }: ServedStream): Promise<boolean> => {
    if (isGrpcType(headers['content-type'])) {
      const ready = loaded();
      const { serveDirect } = ready instanceof Promise ? await ready : ready;
      await serveDirect(stream, request, refused === undefined ? host : refusing(host, refused), services?.methods);
    } else if (refused === undefined && isConnectCall({ method: request.method, path: request.path, type: headers['content-type'] })) {
      const sink = http2Sink(stream, request);
      return await answerConnect(await connectRoad(), request, { sink, host });
    } else {
      const answer = refused ?? (await options.handler.respond(request));
      if (isElsewhere(request)) return true;
      const { budget, onCut } = options;
      const onDelivered = (): void => request.delivered?.();
      const writing = { idleMsMax: limits.streamIdleMsMax, isLast: false, onDelivered, onCut, budget, caller: answer.caller };
      write(stream, { ...answer, headers: { ...answer.headers, ...NO_SNIFF, ...requestIdHeader(request) } }, writing);
      return false;
    }
    return isElsewhere(request);
  };
  return { host, connectRoad, isConnectCall, serve };
}

/** True: the call belongs to another replica, and nothing was written. */
async function answerConnect(
  road: ConnectRoad,
  request: NodeHttpRequest | Http2HttpRequest,
  { sink, host }: { readonly sink: ConnectSink; readonly host: GrpcHost },
): Promise<boolean> {
  const answer = await road(request);
  // The first message of a stream shows whether the call belongs to another replica.
  const begun = request.elsewhere === undefined ? answer : await withFirstPiece(answer);
  if (isElsewhere(request)) return true;
  await writeConnectAnswer(begun, sink, host);
  return false;
}

interface LateDrivers {
  readonly loaded: () => GrpcDrivers | Promise<GrpcDrivers>;
  readonly connectRoad: () => Promise<ConnectRoad>;
}

/** The drivers, loaded by the first call. */
function lateDrivers(host: GrpcHost, services: GrpcServices | undefined): LateDrivers {
  let drivers: GrpcDrivers | Promise<GrpcDrivers> | undefined;
  let road: ConnectRoad | undefined;
  const loaded = (): GrpcDrivers | Promise<GrpcDrivers> => {
    drivers ??= loadGrpcDrivers().then((done) => {
      drivers = done;
      return done;
    });
    return drivers;
  };
  const connectRoad = async (): Promise<ConnectRoad> => {
    const { createConnectRoad } = await loaded();
    road ??= createConnectRoad(host, services?.addMethods);
    return road;
  };
  return { loaded, connectRoad };
}

/** Loads Node's HTTP/2 for the first client that speaks it. */
function lateHttp2Host(
  { limits, log, isStopping }: GrpcPortOptions,
  onStream: (received: ReceivedStream) => void,
): {
  readonly host: () => Http2Host | undefined;
  readonly serve: (socket: Socket) => Promise<void>;
} {
  let host: Http2Host | undefined;
  return {
    host: () => host,
    serve: async (socket) => {
      const { createHttp2Host } = await import('./http2-host.ts');
      host ??= createHttp2Host({ limits, log, onStream });
      if (isStopping()) socket.destroy();
      else host.serve(socket);
    },
  };
}

function grpcHost({ handler, limits, budget, onCut }: Pick<GrpcPortOptions, 'handler' | 'limits' | 'budget' | 'onCut'>): GrpcHost {
  const watches = new HealthWatches(limits.callerStreamsMax);
  return {
    admit: handler.admit,
    requestId: requestIdOf,
    isServing: handler.isServing,
    beginWatch: ({ peer }) => watches.begin(peer?.address),
    requestBytesMax: limits.bodyBytesMax,
    requestMembersMax: limits.jsonMembersMax,
    answerBytesMax: limits.grpcAnswerBytesMax,
    idleMsMax: limits.streamIdleMsMax,
    unsent: (caller, cut) => {
      const response: UnsentResponse = {
        caller,
        cut: () => {
          onCut();
          cut();
        },
      };
      return { hold: (bytes) => budget.hold(response, bytes), release: () => budget.release(response), cut: response.cut };
    },
  };
}

/** The host for a call that a limit of connections or a check of its head refuses. */
function refusing(host: GrpcHost, refused: HttpResponse): GrpcHost {
  return {
    ...host,
    admit: () => {
      throw errorOfRefusal(refused);
    },
  };
}

function refuseStream(
  { stream, headers, rawHeaders, socket }: ReceivedStream,
  { connections, limits }: GrpcPortOptions,
): HttpResponse | undefined {
  return connections.refuse({ socket, headers, url: headers[':path'] }, stream) ?? checkHttp2Head(headers, rawHeaders, limits.headersMax);
}

/** What tells a call of Connect or gRPC-Web from other requests. */
interface ConnectCall {
  readonly method: string | undefined;
  /** Without the query. */
  readonly path: string;
  /** The content type. */
  readonly type: string | undefined;
}

/** Tells whether a request is a call of one of these services in the protocol of Connect or gRPC-Web. */
function connectCallOf(services: readonly string[]): (call: ConnectCall) => boolean {
  return ({ method, path, type }) => {
    const end = path.lastIndexOf('/');
    const service = path.slice(path.lastIndexOf('/', end - 1) + 1, Math.max(end, 0));
    return method === 'POST' && services.includes(service) && isConnectType(type);
  };
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}
