import type { AuthenticationInfo } from '#protocol';

/** One message to one webhook. */
export interface Delivery {
  /** The same however often it is tried, so that a receiver who has it can tell. */
  readonly id: string;
  readonly url: string;
  readonly mediaType: string;
  readonly body: string;
  readonly token?: string;
  readonly authentication?: AuthenticationInfo;
}

/**
 * How it went. `gone`: nobody wants to hear of it any more (410). `refused`: it was understood and not wanted, or may not be sent there; it
 * will hardly be different next time. `failed`: it may be.
 */
export type Outcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'gone'; readonly problem: string }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'failed'; readonly problem: string; readonly retryAfterMs?: number };

/** The way out to webhooks. */
export interface Courier {
  /** Refuses, with a reason for its caller, an address that nothing would be sent to. */
  check(url: string): Promise<void>;
  /** Rejects only when it was called off. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<Outcome>;
}

/** Keeps secrets that are only to be used, never to be shown. What was sealed about one thing does not open about another. */
export interface Vault {
  seal(text: string, about: string): Promise<string>;
  open(sealed: string, about: string): Promise<string>;
}
