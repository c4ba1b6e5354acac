import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Options of `sharePort`. */
export interface SharedPortOptions {
  /** Serves a socket whose client speaks HTTP/2. */
  readonly serveHttp2: (socket: Socket) => void;
  /** A client that does not show its protocol within this time is disconnected. */
  readonly silentMsMax: number;
}

/** A port on which clients speak HTTP/1.1 or HTTP/2. */
export interface SharedPort {
  /** Disconnects the clients that have not shown their protocol yet. No server knows them. */
  closeUndecided(): void;
}

/** What a client sends first on HTTP/2 without TLS (RFC 9113 §3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/**
 * Lets HTTP/1.1 and HTTP/2 share the port of a server. With TLS the client chooses in the handshake
 * (ALPN); without, its first bytes tell. The server still listens and serves HTTP/1.1 itself, because
 * the timeouts of a server that does not listen have no effect.
 */
export function sharePort(server: Server, options: SharedPortOptions): SharedPort {
  const event = server.listenerCount('secureConnection') > 0 ? 'secureConnection' : 'connection';
  const [http1] = server.listeners(event);
  if (http1 === undefined) throw new Error('the server has no listener for connections');
  const serveHttp1 = (socket: Socket): void => {
    Reflect.apply(http1, server, [socket]);
    socket.resume();
  };
  server.removeAllListeners(event);
  if (event === 'secureConnection') {
    server.on(event, (socket: Socket) => {
      if (socket instanceof TLSSocket && socket.alpnProtocol === 'h2') options.serveHttp2(socket);
      else serveHttp1(socket);
    });
    return { closeUndecided: () => {} };
  }
  const undecided = new Set<UndecidedSocket>();
  server.on(event, (socket: Socket) => {
    if (socket.destroyed) return; // a connection limit has refused it
    const one = new UndecidedSocket(socket, {
      onDecided: (isHttp2) => {
        undecided.delete(one);
        if (isHttp2 === true) options.serveHttp2(socket);
        else if (isHttp2 === false) serveHttp1(socket);
      },
      onSilent: () => server.emit('clientError', Object.assign(new Error('no request'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket),
      silentMsMax: options.silentMsMax,
    });
    undecided.add(one);
  });
  return {
    closeUndecided: () => {
      for (const one of undecided) one.socket.destroy();
    },
  };
}

interface UndecidedOptions {
  /** Undefined: the client has disconnected. */
  readonly onDecided: (isHttp2: boolean | undefined) => void;
  readonly onSilent: () => void;
  readonly silentMsMax: number;
}

/** A socket until its first bytes have shown which protocol it speaks. */
class UndecidedSocket {
  readonly socket: Socket;
  readonly #options: UndecidedOptions;
  readonly #timer: ReturnType<typeof setTimeout>;
  #seen: Buffer | undefined;

  constructor(socket: Socket, options: UndecidedOptions) {
    this.socket = socket;
    this.#options = options;
    this.#timer = setTimeout(options.onSilent, options.silentMsMax);
    socket.on('data', this.#onData).on('end', this.#onGone).on('close', this.#onGone).on('error', this.#onGone);
  }

  readonly #onData = (piece: Buffer): void => {
    const seen = this.#seen === undefined ? piece : Buffer.concat([this.#seen, piece]);
    const length = Math.min(seen.length, PREFACE.length);
    const isPrefix = PREFACE.compare(seen, 0, length, 0, length) === 0;
    if (isPrefix && seen.length < PREFACE.length) {
      this.#seen = seen;
      return;
    }
    this.#letGo();
    this.socket.pause();
    this.socket.unshift(seen);
    this.#options.onDecided(isPrefix);
  };

  readonly #onGone = (): void => {
    this.#letGo();
    this.socket.destroy();
    this.#options.onDecided(undefined);
  };

  #letGo(): void {
    clearTimeout(this.#timer);
    this.socket.off('data', this.#onData).off('end', this.#onGone).off('close', this.#onGone).off('error', this.#onGone);
  }
}
