import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { ForwardedRequest, Peer } from '#bindings';
import { Http2HttpRequest } from '../node/http2-request.ts';
import { KeptBody } from '../node/kept-body.ts';
import type { LinkFacts } from './link-wire.ts';

/** What a forwarded request arrived on. */
export interface LinkRequestOptions {
  readonly socket: Socket;
  readonly bodyMsMax: number;
  readonly facts: LinkFacts;
}

/** A request that another replica has received. Its caller is the one outside. */
export class LinkHttpRequest extends Http2HttpRequest {
  readonly forwarded: ForwardedRequest;
  readonly #facts: LinkFacts;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, { socket, bodyMsMax, facts }: LinkRequestOptions) {
    super(stream, headers, { socket, bodyMsMax, trusted: undefined });
    this.#facts = facts;
    this.forwarded = { retryKey: facts.key };
    this.elsewhere = new KeptBody(facts.key, facts.agent);
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
