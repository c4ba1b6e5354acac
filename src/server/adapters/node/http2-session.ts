import type { ServerHttp2Session } from 'node:http2';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { ServerLimits } from '../../limits.ts';

/** A connection without a stream for this long is closed. Clients open a new one when they need it. */
const IDLE_MS = 300_000;
/**
 * Pings and settings cost the sender nothing, and each is answered. Clients of gRPC measure the connection with pings while data flows, so
 * only those that arrive while nothing is sent count.
 */
const PINGS = { burst: 200, perSecond: 20 };
const SETTINGS = { burst: 50, perSecond: 1 };
/** The answer to a ping. What is written beyond that between two pings is data. */
const PING_BYTES = 17;

type SessionLimits = Pick<ServerLimits, 'keepAliveMs' | 'headerMsMax' | 'requestMsMax'>;

/** Watches one HTTP/2 connection: ends it if it begins without settings or floods the server, if its client is gone, or if it is idle. */
export class Http2SessionWatch {
  readonly socket: Socket;
  readonly #session: ServerHttp2Session;
  readonly #pings = new FrameBudget(PINGS);
  readonly #settings = new FrameBudget(SETTINGS);
  readonly #keepAlive: ReturnType<typeof setInterval> | undefined;
  readonly #idle: ReturnType<typeof setInterval>;
  readonly #unsettled: ReturnType<typeof setTimeout>;
  #idleSince = performance.now();
  #written = 0;
  #streams = 0;
  #isPinged = false;

  constructor(session: ServerHttp2Session, socket: Socket, { keepAliveMs, headerMsMax, requestMsMax }: SessionLimits) {
    this.#session = session;
    this.socket = socket;
    session.on('ping', () => this.#onPing());
    // Settings are the first frame of every client (RFC 9113 §3.4).
    this.#unsettled = setTimeout(() => session.destroy(), Math.min(headerMsMax, requestMsMax));
    this.#unsettled.unref();
    session.once('remoteSettings', () => clearTimeout(this.#unsettled));
    session.on('remoteSettings', () => this.#take(this.#settings));
    // A timeout of Node's session would be started again by every frame.
    this.#idle = setInterval(() => this.#closeIfIdle(), IDLE_MS / 10);
    this.#idle.unref();
    // Keep-alive comments have no place in gRPC's streams, so HTTP/2 itself is asked whether the client is still there.
    if (keepAliveMs > 0 && Number.isFinite(keepAliveMs)) this.#keepAlive = setInterval(() => this.#ping(), keepAliveMs);
    this.#keepAlive?.unref();
  }

  opened(): void {
    this.#streams += 1;
  }

  closed(): void {
    this.#streams -= 1;
    this.#idleSince = performance.now();
  }

  stop(): void {
    clearTimeout(this.#unsettled);
    clearInterval(this.#keepAlive);
    clearInterval(this.#idle);
  }

  #onPing(): void {
    const { bytesWritten } = this.socket;
    const isFlowing = bytesWritten - this.#written > 2 * PING_BYTES;
    this.#written = bytesWritten;
    if (!isFlowing) this.#take(this.#pings);
  }

  #take(budget: FrameBudget): void {
    if (!budget.take()) this.#session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #ping(): void {
    if (this.#streams === 0 || this.#session.destroyed) return;
    if (this.#isPinged) {
      this.#session.destroy(); // the last ping has no answer
      return;
    }
    this.#isPinged = true;
    this.#session.ping(() => {
      this.#isPinged = false;
    });
  }

  #closeIfIdle(): void {
    if (this.#streams === 0 && performance.now() - this.#idleSince >= IDLE_MS && !this.#session.closed) this.#session.close();
  }
}

/** Counts frames of one kind: so many at once, and so many a second. */
class FrameBudget {
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #at = performance.now();

  constructor({ burst, perSecond }: { readonly burst: number; readonly perSecond: number }) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
  }

  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) / 1000) * this.#perSecond) - 1;
    this.#at = now;
    return this.#left >= 0;
  }
}
