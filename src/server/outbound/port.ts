import type { Fetch } from '#protocol';

/** Limits of an outbound request. */
export interface OutboundLimits {
  /** The maximum size of a response body. */
  readonly bytesMax: number;
  /** The maximum time from the start of the request to the end of the response. */
  readonly msMax: number;
}

/**
 * Sends the node's outbound requests and refuses forbidden addresses. Every request to an address that
 * somebody else chose goes through it: webhooks, cards, issuer keys, files that a message refers to.
 */
export interface Outbound {
  /**
   * A fetch function that follows no redirects and decompresses nothing. It fails with an
   * OutboundError. With `redirect: 'manual'` it returns a redirect instead of failing.
   */
  fetchWithin(limits: OutboundLimits): Fetch;
  /**
   * Throws an OutboundError if the policy forbids the address. A name that does not resolve passes: it
   * may resolve later.
   */
  check(url: string): Promise<void>;
  /** Closes idle connections. */
  close(): Promise<void>;
}
