import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BlockList } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { HttpRequest, Peer } from '#bindings';
import { bodyTooLarge } from '#bindings';
import type { KeptBody } from './kept-body.ts';
import { forwardedPrefix, NodePeer } from './tls.ts';

/** Node's request as an `HttpRequest`, without the cost of creating a `Request`. */
export class NodeHttpRequest implements HttpRequest {
  readonly httpVersion = '1.1';
  id: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #trusted: BlockList | undefined;
  #left: AbortController | undefined;
  #onClose: (() => void) | undefined;
  /** Set by a listener that is one of several. */
  elsewhere: KeptBody | undefined;
  /** Called when the complete response has been sent. */
  delivered: (() => void) | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, trusted?: BlockList) {
    const target = incoming.url ?? '/';
    const mark = target.indexOf('?');
    this.method = incoming.method ?? 'GET';
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.query = mark === -1 ? '' : target.slice(mark + 1);
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#trusted = trusted;
  }

  get origin(): string {
    const scheme = this.#incoming.socket instanceof TLSSocket ? 'https' : 'http';
    return `${scheme}://${this.#incoming.headers.host ?? 'localhost'}`;
  }

  /**
   * Express removes the prefix of a mounted handler from `url` and keeps it in `baseUrl`. A trusted proxy names the prefix that it has removed
   * in `X-Forwarded-Prefix`.
   */
  get mountedAt(): string | undefined {
    const { baseUrl } = this.#incoming as IncomingMessage & { readonly baseUrl?: unknown };
    return typeof baseUrl === 'string' && baseUrl !== '' ? baseUrl : forwardedPrefix(this.#incoming, this.#trusted);
  }

  get peer(): Peer {
    return new NodePeer(this.#incoming, this.#trusted);
  }

  /** Created on first use: most requests never need it. */
  get signal(): AbortSignal {
    if (this.#left === undefined) {
      this.#left = new AbortController();
      if (this.#outgoing.destroyed) this.abort();
      else {
        const onClose = (): void => this.abort();
        this.#onClose = onClose;
        this.#outgoing.on('close', onClose);
      }
    }
    return this.#left.signal;
  }

  /**
   * Stops watching the connection: a streamed response notices a disconnect itself and reports it with
   * `leave`.
   */
  handOver(): void {
    if (this.#onClose !== undefined) this.#outgoing.off('close', this.#onClose);
    this.#onClose = undefined;
  }

  abort(): void {
    if (!this.#outgoing.writableFinished) this.#left?.abort();
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  body(bytesMax: number): Promise<Uint8Array> {
    return this.elsewhere === undefined ? this.#read(bytesMax) : this.elsewhere.keep(this.#read(bytesMax));
  }

  #read(bytesMax: number): Promise<Uint8Array> {
    const incoming = this.#incoming;
    if (incoming.readableEnded) return Promise.resolve(parsedBefore(incoming));
    const declared = Number(incoming.headers['content-length'] ?? 0);
    if (declared > bytesMax) return Promise.reject(bodyTooLarge(bytesMax));
    if (incoming.headers.expect !== undefined) this.#outgoing.writeContinue(); // the client waits for this before it sends the body
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      let length = 0;
      const onData = (piece: Buffer): void => {
        length += piece.length;
        if (length > bytesMax) {
          incoming.off('data', onData).pause();
          reject(bodyTooLarge(bytesMax));
        } else pieces.push(piece);
      };
      const onEnd = (): void => {
        // Node keeps the request as long as its response is open, and the listeners would keep the body.
        incoming.off('data', onData).off('end', onEnd).off('close', onClose);
        resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, length));
      };
      const onClose = (): void => reject(new Error('the client disconnected before its request was complete'));
      incoming.on('data', onData).on('end', onEnd).on('close', onClose);
    });
  }

  onDelivered(mark: () => void): void {
    this.delivered = mark;
  }
}

/** The body that a framework has already read and parsed, as Express's body parsers do. */
function parsedBefore(incoming: IncomingMessage & { readonly body?: unknown }): Uint8Array {
  const { body } = incoming;
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
}
