import type { Fetch } from '#protocol';

export interface OutboundLimits {
  /** Of the body of an answer. */
  readonly bytesMax: number;
  /** From the first word to the last of the answer. */
  readonly msMax: number;
}

/** The one way out of a node: for webhooks, cards, keys, files that a message refers to; for every address that somebody else chose. */
export interface Outbound {
  /** Follows no redirect and unpacks nothing. Fails with an OutboundError. */
  fetchWithin(limits: OutboundLimits): Fetch;
  /** Throws an OutboundError if requests to it would be refused. A name that does not resolve may do so one day. */
  check(url: string): Promise<void>;
  close(): Promise<void>;
}
