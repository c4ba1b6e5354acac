import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** What a client sends first on HTTP/2 without TLS (RFC 9113 §3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
/** Node's parser of HTTP/1.1 reports the preface with this code. */
const HTTP2_BEGINS = 'HPE_PAUSED_H2_UPGRADE';

/** An error of Node's parser. */
export interface ParserError extends Error {
  readonly code?: string;
  /** The bytes of `rawPacket` that the parser has read. */
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

/** Lets clients of HTTP/2 use the port of an HTTPS server: they choose it in the handshake (ALPN). */
export function shareTlsPort(server: Server, serveHttp2: (socket: Socket) => void): void {
  const [http1] = server.listeners('secureConnection');
  if (http1 === undefined) throw new Error('the server has no listener for connections');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: Socket) => {
    if (socket instanceof TLSSocket && socket.alpnProtocol === 'h2') serveHttp2(socket);
    else Reflect.apply(http1, server, [socket]);
  });
}

/**
 * Takes a connection from the HTTP/1.1 server if its client speaks HTTP/2 without TLS. Undefined: it does not. Node's own parser recognises
 * the preface, so connections of HTTP/1.1 cost nothing more, and its timeouts hold until the preface is complete.
 */
export function takeHttp2(error: ParserError, socket: Duplex): Socket | undefined {
  const { code, bytesParsed, rawPacket } = error;
  if (code !== HTTP2_BEGINS || rawPacket === undefined || !(socket instanceof Socket)) return undefined;
  if (socket instanceof TLSSocket) return undefined; // it chose HTTP/1.1 in the handshake
  const rest = rawPacket.subarray(bytesParsed);
  // The preface counts only as the first bytes of a connection, not after a request.
  if (socket.bytesRead - rest.length !== PREFACE.length) return undefined;
  if (!leaveHttp1(socket)) return undefined;
  socket.pause();
  socket.unshift(Buffer.concat([PREFACE, rest]));
  return socket;
}

const HTTP1_EVENTS = ['data', 'end', 'close', 'drain', 'timeout', 'resume', 'pause', 'error'];
/** The names of the listeners that Node's HTTP/1.1 server adds to a socket. */
const HTTP1_LISTENER = /^(?:bound )?(?:socketOn|onSocket)/;

/** Removes what Node's HTTP/1.1 server has added to a socket. Its listener for `close` releases the parser. */
function leaveHttp1(socket: Socket): boolean {
  const release = socket.listeners('close').find(({ name }) => HTTP1_LISTENER.test(name));
  if (release === undefined) return false;
  for (const event of HTTP1_EVENTS) {
    for (const listener of socket.listeners(event)) if (HTTP1_LISTENER.test(listener.name)) socket.off(event, listener as () => void);
  }
  Reflect.apply(release, socket, []);
  return true;
}
