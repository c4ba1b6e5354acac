import type { Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants, createServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { ServerLimits } from '../../limits.ts';
import type { Log } from '../../observability/log.ts';
import { Http2SessionWatch } from './http2-session.ts';

/** A request on an HTTP/2 connection. */
export interface ReceivedStream {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they arrived. */
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  /** To be called when the stream is closed. */
  readonly onClosed: () => void;
}

/** Options of `createHttp2Host`. */
export interface Http2HostOptions {
  readonly limits: Pick<ServerLimits, 'headersMax' | 'keepAliveMs' | 'headerMsMax' | 'requestMsMax'>;
  readonly log: Log;
  readonly onStream: (received: ReceivedStream) => void;
}

/** Serves sockets whose clients speak HTTP/2. */
export interface Http2Host {
  serve(socket: Socket): void;
  /** Asks all clients to send no more requests, and closes each connection after its last response. */
  goAway(): void;
  /** Disconnects all clients. */
  closeAll(): void;
}

/** Streams at once on a connection. A proxy in front may send those of all its clients on one, and opens another when this is reached. */
const STREAMS_MAX = 256;
/** Clients that cancel many streams at once: each costs more here than there (CVE-2023-44487). */
const RESET_BURST = 200;
const RESETS_PER_SECOND = 50;
const PSEUDO_HEADERS = 4;
/**
 * Node refuses new streams while more than 10 MB wait to be sent on a connection, and closes it after 100 of them: a few large answers on the
 * connection of a proxy would stop all of its clients. What readers leave unsent has budgets of its own (`UnsentBudget`).
 */
const SESSION_MEGABYTES_MAX = 4096;

/**
 * An HTTP/2 server that does not listen itself: it gets its sockets from the port that it shares with
 * HTTP/1.1. Bounds what one client can make it do (docs/security.md).
 */
export function createHttp2Host({ limits, log, onStream }: Http2HostOptions): Http2Host {
  const sessions = new Map<Http2Session, Http2SessionWatch>();
  let accepted: Socket | undefined;
  let isStopping = false;
  const server = createServer({
    maxSessionMemory: SESSION_MEGABYTES_MAX,
    maxHeaderListPairs: limits.headersMax + PSEUDO_HEADERS + 1,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    streamResetBurst: RESET_BURST,
    streamResetRate: RESETS_PER_SECOND,
    settings: { maxConcurrentStreams: STREAMS_MAX, maxHeaderListSize: 16_384, enablePush: false },
  });
  server.on('session', (session) => {
    if (accepted === undefined) return;
    const watch = new Http2SessionWatch(session, accepted, limits);
    sessions.set(session, watch);
    session.once('close', () => {
      watch.stop();
      sessions.delete(session);
    });
    if (isStopping) session.close();
  });
  server.on('sessionError', (error) => log.debug('an HTTP/2 connection failed', { error: error.message }));
  const onError = (error: Error): void => log.debug('an HTTP/2 stream failed', { error: error.message });
  server.on('stream', (stream, headers, _flags, rawHeaders: readonly string[]) => {
    const watch = stream.session === undefined ? undefined : sessions.get(stream.session);
    // A stream without a listener for errors would end the process. Resets are normal.
    stream.on('error', onError);
    if (watch === undefined) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    watch.opened();
    onStream({ stream, headers, rawHeaders, socket: watch.socket, onClosed: () => watch.closed() });
  });
  return {
    serve: (socket) => {
      socket.on('error', (error) => log.debug('an HTTP/2 connection failed', { error: error.message }));
      // The HTTP/1.1 server lets clients close their side first. On HTTP/2 the client is then gone.
      socket.allowHalfOpen = false;
      accepted = socket;
      server.emit('connection', socket);
      accepted = undefined;
    },
    goAway: () => {
      isStopping = true;
      for (const session of sessions.keys()) if (!session.closed) session.close();
    },
    closeAll: () => {
      for (const session of sessions.keys()) session.destroy();
    },
  };
}
