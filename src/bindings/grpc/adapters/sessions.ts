/// <reference types="node" />
// The console is compiled without the types of Node. It imports this file, and never runs it.
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import type { Duplex } from 'node:stream';

/** Opens a connection, with TLS if the origin's scheme says so. */
export type OpenSocket = (origin: URL) => Promise<Duplex>;

/** A connection whose server has confirmed that it speaks HTTP/2. */
export interface Http2Connection {
  /** Begins a call. Throws if the connection is closing. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream;
  /** Nothing has come for a while, so the connection may be dead. */
  readonly isSilent: boolean;
}

/** Connections by origin. A connection carries many calls at once. */
export interface Http2Sessions {
  get(origin: string, signal: AbortSignal): Promise<Http2Connection>;
  /** Lets the calls of a connection end, and opens a new one for the next call. */
  drop(connection: Http2Connection): void;
  close(): void;
}

/** Longer than the pauses between the calls of a conversation. Most proxies close idle connections after 60 s or more. */
const IDLE_MS = 50_000;
/** A dead peer is noticed after this time and nine probes. Servers do not see these probes, unlike HTTP/2 pings, which they limit. */
const TCP_KEEP_ALIVE_MS = 15_000;
/** A call that is given up after a silence of this time is not followed by another one over the same connection. */
const SILENT_MS = 100;
const SETTINGS = { enablePush: false, initialWindowSize: 1_048_576 };

/** The server closed the connection before it confirmed HTTP/2, so no call was sent. */
class NoHttp2 extends Error {
  override readonly name = 'NoHttp2';
  readonly code = 'ERR_NO_HTTP2';
}

/** Connections of one program. A connection without calls does not keep the program running. */
export function openSessions(http2: typeof import('node:http2'), openSocket?: OpenSocket): Http2Sessions {
  const byOrigin = new Map<string, Promise<Connection>>();
  const open = async (origin: string): Promise<Connection> => {
    const socket = await openSocket?.(new URL(origin));
    const session = http2.connect(origin, { settings: SETTINGS, ...(socket === undefined ? {} : { createConnection: () => socket }) });
    await confirmed(session);
    return new Connection(session);
  };
  const forget = (origin: string, known: Promise<Connection>): void => {
    if (byOrigin.get(origin) === known) byOrigin.delete(origin);
  };
  const opened = (origin: string): Promise<Connection> => {
    const made = open(origin);
    byOrigin.set(origin, made);
    const gone = (): void => forget(origin, made);
    made.then(({ session }) => session.once('close', gone).once('goaway', gone), gone);
    return made;
  };
  return {
    get: async (origin, signal) => {
      const known = byOrigin.get(origin) ?? opened(origin);
      const connection = await unlessAborted(known, signal);
      if (connection.isOpen) return connection;
      forget(origin, known);
      return await unlessAborted(byOrigin.get(origin) ?? opened(origin), signal);
    },
    drop: (connection) => {
      for (const [origin, known] of byOrigin) {
        known.then(
          (each) => {
            if (each !== connection) return;
            forget(origin, known);
            each.session.close();
          },
          () => undefined,
        );
      }
    },
    close: () => {
      for (const known of byOrigin.values())
        known.then(
          ({ session }) => session.destroy(),
          () => undefined,
        );
      byOrigin.clear();
    },
  };
}

/** Waits for the server's settings: until then nothing tells that it speaks HTTP/2, and a call could be lost. */
function confirmed(session: ClientHttp2Session): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isConfirmed = false;
  session.once('connect', (_, socket) => {
    socket.setKeepAlive?.(true, TCP_KEEP_ALIVE_MS);
  });
  session.once('remoteSettings', () => {
    isConfirmed = true;
    resolve();
  });
  session.on('error', (cause) => {
    if (!isConfirmed) reject(isProtocol(cause) ? new NoHttp2(`the server does not speak HTTP/2 (${cause.message})`) : cause);
  });
  session.once('close', () => reject(new NoHttp2('the server closed the connection without an HTTP/2 greeting')));
  return promise;
}

/** Other errors are those of the network, with a code of their own. */
function isProtocol(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && /^(?:ERR_HTTP2|ECONNRESET|EPIPE)/.test(String(thrown.code));
}

/** A connection that counts its calls. Without any, it does not keep the program running, and closes after a while. */
class Connection implements Http2Connection {
  readonly session: ClientHttp2Session;
  #calls = 0;
  #lastMs: number = performance.now();
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(session: ClientHttp2Session) {
    this.session = session;
    session.once('close', () => clearTimeout(this.#idle));
    this.#rest();
  }

  get isOpen(): boolean {
    return !this.session.closed && !this.session.destroyed;
  }

  get isSilent(): boolean {
    return performance.now() - this.#lastMs > SILENT_MS;
  }

  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const stream = this.session.request(headers);
    const heard = (): void => {
      this.#lastMs = performance.now();
    };
    stream.on('response', heard).on('data', heard).on('trailers', heard);
    stream.pause(); // the listener above must not start the flow: the reader of the body does
    clearTimeout(this.#idle);
    this.#calls += 1;
    this.session.ref();
    stream.once('close', () => {
      this.#calls -= 1;
      if (this.#calls === 0) this.#rest();
    });
    return stream;
  }

  #rest(): void {
    if (!this.isOpen) return;
    this.session.unref();
    this.#idle = setTimeout(() => this.session.close(), IDLE_MS);
    this.#idle.unref();
  }
}

async function unlessAborted<T>(wanted: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([wanted, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
