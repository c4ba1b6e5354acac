import type { PeerCertificate } from '#bindings';

/** Headers of the link. A public listener never passes them on. */
export const PROOF = 'parley-link-proof';
export const FACTS = 'parley-link-facts';
/** In a response: the replica does not own the request's cell now, and has done nothing. */
export const AWAY = 'parley-link-away';
/** Beside it: the cell that the request belongs to. */
export const CELL = 'parley-link-cell';
/** Beside it: the replica owns the cell, and does not serve the agent that the request is for. */
export const LACKS = 'parley-link-lacks';
/** In a response: its replica wants to know when the caller has got all of it. */
export const DELIVERED = 'parley-link-delivered';
/** In a request: the keys of earlier requests whose callers have got all of their responses. */
export const REACHED = 'parley-link-reached';
/** In a request: the lines of its body are sends, and those of the response their answers. Both last as long as the connection. */
export const SENDS = 'parley-link-sends';
/** In a request: the sender wants to read a stream, which the body names. */
export const CALL = 'parley-link-call';
/** In a request: the sender wants the figures of the replica. In the response: them. */
export const FIGURES = 'parley-link-figures';
/** In a request: the cell and the agent that the sender needs it for. In the response: whether it has the cell from now on. */
export const WANTS = 'parley-link-wants';
/** In a request: the replica has to erase its part of a caller's data, which the body names. In the response: it has done so. */
export const ERASE = 'parley-link-erase';
/**
 * In the trailers of a stream: how it ended. `whole`: it reached its own end. `cut`: it was ended on purpose. `away`: its replica ends, and another
 * one continues it.
 */
export const END = 'parley-link-end';

/** What the replica that received a request tells about it. Access is checked by the owner, with these facts. */
export interface LinkFacts {
  /** The same for each repetition of the request. */
  readonly key: string;
  /** The agent that the request is for. The first agents of two replicas may differ. Undefined: the request is for no agent. */
  readonly agent?: string | undefined;
  /** Scheme and host, as the caller named them. The host name is checked. */
  readonly origin: string;
  /** The address of the caller: that of the outside, if a trusted proxy told it. */
  readonly address?: string | undefined;
  readonly certificate?: PeerCertificate | undefined;
  /** The prefix that a trusted proxy has removed from the path. */
  readonly prefix?: string | undefined;
}

export function writeFacts(facts: LinkFacts): string {
  return Buffer.from(JSON.stringify(facts)).toString('base64url');
}

/** Only verified replicas send these. */
export function readFacts(text: string): LinkFacts | undefined {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as LinkFacts;
  } catch {
    return undefined;
  }
}

export function isLinkHeader(name: string): boolean {
  return name.startsWith('parley-link-');
}
