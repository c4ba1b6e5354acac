import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { ForwardedRequest, Peer } from '#bindings';
import { Http2HttpRequest } from '../node/http2-request.ts';
import { KeptBody } from '../node/kept-body.ts';
import type { LinkFacts } from './link-wire.ts';
import { DELIVERED } from './link-wire.ts';

/** What a forwarded request arrived on. */
export interface LinkRequestOptions {
  readonly socket: Socket;
  readonly bodyMsMax: number;
  readonly facts: LinkFacts;
  /** Keeps what to call when the sender reports that its caller has the whole response. */
  readonly keepMark: (key: string, mark: () => void) => void;
}

/** A request that another replica has received. Its caller is the one outside. */
export class LinkHttpRequest extends Http2HttpRequest {
  override readonly forwarded: ForwardedRequest;
  readonly #facts: LinkFacts;
  readonly #keepMark: LinkRequestOptions['keepMark'];

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, { socket, bodyMsMax, facts, keepMark }: LinkRequestOptions) {
    super(stream, headers, { socket, bodyMsMax, trusted: undefined });
    this.#facts = facts;
    this.forwarded = { retryKey: facts.key, answerHeaders: () => (this.delivered === undefined ? {} : { [DELIVERED]: '1' }) };
    this.#keepMark = keepMark;
    this.elsewhere = new KeptBody(facts.key, facts.agent);
  }

  /** The sender tells whether the response has reached the caller, so that it has reached the sender says nothing. */
  override onDelivered(mark: () => void): void {
    this.#keepMark(this.#facts.key, mark);
    super.onDelivered(() => {});
  }

  override get origin(): string {
    return this.#facts.origin;
  }

  get mountedAt(): string | undefined {
    return this.#facts.prefix;
  }

  /** Without the ends of the connection: they are those of another machine. */
  override get peer(): Peer {
    const { address, certificate } = this.#facts;
    return { address, certificate };
  }
}
