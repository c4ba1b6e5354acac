import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { BlockList, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ForwardedRequest, HttpRequest, Peer } from '#bindings';
import { bodyTooLarge } from '#bindings';
import { A2AError } from '#protocol';
import { isCutOff } from './cut-off.ts';
import type { KeptBody } from './kept-body.ts';
import { NodePeer } from './tls.ts';

/** Options of `Http2HttpRequest`. */
export interface Http2RequestOptions {
  /** The connection. Node's own stands for it, and is gone when the session is. */
  readonly socket: Socket;
  readonly trusted: BlockList | undefined;
  /** Timeout for the body. */
  readonly bodyMsMax: number;
}

/** A stream of HTTP/2 as an `HttpRequest`. */
export class Http2HttpRequest implements HttpRequest {
  readonly httpVersion = '2.0';
  id: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #options: Http2RequestOptions;
  readonly #onClose: (() => void)[] = [];
  #left: AbortController | undefined;
  /** Rejects the body that is still arriving. */
  #onCut: (() => void) | undefined;
  /** Set for a request that another replica has forwarded. */
  readonly forwarded?: ForwardedRequest;
  /** Set by a listener that is one of several. */
  elsewhere: KeptBody | undefined;
  /** Called when the complete response has been sent. */
  delivered: (() => void) | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: Http2RequestOptions) {
    const target = headers[':path'] ?? '/';
    const mark = target.indexOf('?');
    this.method = headers[':method'] ?? 'GET';
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.query = mark === -1 ? '' : target.slice(mark + 1);
    this.#stream = stream;
    this.#headers = headers;
    this.#options = options;
    // A closed stream stays in memory until the next full collection, because Node assigns a function to a member of each, which V8 allocates
    // in the old generation. So the stream must not keep its request: this function knows the listeners only.
    const listeners = this.#onClose;
    stream.on('close', () => {
      for (const listener of listeners) listener();
      listeners.length = 0;
    });
  }

  /** Calls the listener when the stream is closed. A listener on a stream of HTTP/2 costs about as much as reading its body, so there is one. */
  onClose(listener: () => void): void {
    this.#onClose.push(listener);
  }

  /** HTTP/2 names the host in `:authority`. A client that translates HTTP/1.1 may send `host` instead. */
  get #host(): string {
    return this.#headers[':authority'] ?? this.#headers.host ?? 'localhost';
  }

  get origin(): string {
    return `${this.#options.socket instanceof TLSSocket ? 'https' : 'http'}://${this.#host}`;
  }

  get peer(): Peer {
    const { socket, trusted } = this.#options;
    return new NodePeer({ socket, headers: this.#headers }, trusted);
  }

  /** Created on first use. */
  get signal(): AbortSignal {
    if (this.#left === undefined) {
      this.#left = new AbortController();
      if (this.#stream.destroyed) this.abort();
      // An abort costs much, so the end of a complete response is none.
      else
        this.onClose(() => {
          if (isCutOff(this.#stream)) this.abort();
        });
    }
    return this.#left.signal;
  }

  abort(): void {
    this.#left?.abort();
  }

  header(name: string): string | undefined {
    if (name === 'host') return this.#host;
    const value = this.#headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  body(bytesMax: number): Promise<Uint8Array> {
    const bytes = this.#body(bytesMax);
    return this.elsewhere === undefined ? bytes : this.elsewhere.keep(bytes);
  }

  async #body(bytesMax: number): Promise<Uint8Array> {
    const stream = this.#stream;
    // Node announces a stream before it reads the frames that arrived together with its headers.
    if (stream.state.remoteClose !== 1) await frames.read();
    if (stream.destroyed) throw disconnected();
    return stream.state.remoteClose === 1 ? this.#arrived(bytesMax) : await this.#arriving(bytesMax);
  }

  /** The body of a request that is complete, as small ones mostly are: without listeners and timers. */
  #arrived(bytesMax: number): Uint8Array {
    this.#stream.pause(); // otherwise Node takes the request for unread, and resets the stream after the response
    const bytes: Buffer | null = this.#stream.read();
    if (bytes !== null && bytes.length > bytesMax) throw bodyTooLarge(bytesMax);
    return bytes ?? new Uint8Array();
  }

  #arriving(bytesMax: number): Promise<Uint8Array> {
    const stream = this.#stream;
    const { bodyMsMax } = this.#options;
    // Every stream emits `close`. The error, which is costly to create, is for incomplete requests only.
    this.onClose(() => this.#onCut?.());
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      let length = 0;
      const fail = (error: Error): void => {
        clearTimeout(timer);
        stream.off('data', onData).pause();
        reject(error);
      };
      const timer = setTimeout(
        () => fail(new A2AError('INVALID_REQUEST', `the request was not complete within ${bodyMsMax} ms`)),
        bodyMsMax,
      );
      const onData = (piece: Buffer): void => {
        length += piece.length;
        if (length > bytesMax) fail(bodyTooLarge(bytesMax));
        else pieces.push(piece);
      };
      const onEnd = (): void => {
        clearTimeout(timer);
        // The stream stays open as long as its response, and these would keep the body.
        stream.off('data', onData).off('end', onEnd);
        this.#onCut = undefined;
        const [first] = pieces;
        resolve(pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, length));
      };
      const onCut = (): void => fail(disconnected());
      this.#onCut = onCut;
      stream.on('data', onData).on('end', onEnd);
    });
  }

  onDelivered(mark: () => void): void {
    this.delivered = mark;
  }
}

/** Waits until the frames that arrived are read. One turn of the event loop serves all requests that wait for it. */
class ArrivedFrames {
  #reading: Promise<void> | undefined;

  read(): Promise<void> {
    this.#reading ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#reading = undefined;
        resolve();
      });
    });
    return this.#reading;
  }
}

const frames = new ArrivedFrames();

function disconnected(): Error {
  return new Error('the client disconnected before its request was complete');
}
