import type { AuthenticationInfo, DialectId, Logged, Task } from '#protocol';

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

/** What has happened to a task since its last delivery, on its way to where a binding wants its answers. */
export interface Reply {
  /** As the binding said it (`CallContext.reply`). */
  readonly to: string;
  readonly agent: string;
  readonly dialect: DialectId;
  /** In order, without gaps; the first may have been carried before. Ids are those that the caller knows. */
  readonly events: readonly Logged[];
  /** Given when the message has been dealt with: the task as it then is, which is the answer. */
  readonly task?: Task;
}

/** The way out for answers that bindings give later than their call: to a broker. */
export interface Carrier {
  /** Resolves when the other side has taken all of it; what rejects is tried again. */
  carry(reply: Reply, signal: AbortSignal): Promise<void>;
}

/** Keeps secrets that are only to be used, never to be shown. What was sealed about one thing does not open about another. */
export interface Vault {
  seal(text: string, about: string): Promise<string>;
  open(sealed: string, about: string): Promise<string>;
}
