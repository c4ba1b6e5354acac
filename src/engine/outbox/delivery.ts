import type { AuthenticationInfo, DialectId, Logged, PushConfigId, Seq, Task, TaskId, TraceContext } from '#protocol';

/** What the outbox delivers: events to a caller's webhook, or replies over a broker. */
export type DeliveryKind = 'webhook' | 'reply';

/** One request to one webhook. */
export interface WebhookDelivery {
  /** The same for every attempt, so that the receiver can recognise a repetition. */
  readonly id: string;
  /** Where to send the request. */
  readonly url: string;
  /** `Content-Type` of the body. */
  readonly mediaType: string;
  /** The payload as text. The signature covers exactly these bytes. */
  readonly body: string;
  /** Value of `X-A2A-Notification-Token`. */
  readonly token?: string;
  /** For the `Authorization` header. */
  readonly authentication?: AuthenticationInfo;
  /** The trace of the request whose message the task works on. */
  readonly trace?: TraceContext;
  /** The task and its event, for logs and traces. */
  readonly about?: { readonly agent: string; readonly task: TaskId; readonly config: PushConfigId; readonly seq: Seq };
}

/**
 * The result of an attempt. `gone`: the receiver wants no further events (410). `refused`: the receiver
 * rejected the event, or the address is not allowed; a retry will hardly help. `failed`: a retry may
 * help.
 */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'gone'; readonly problem: string }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'failed'; readonly problem: string; readonly retryAfterMs?: number };

/** Port: sends events to webhooks. */
export interface WebhookSender {
  /** Rejects with a reason for the caller if nothing would be sent to this address. */
  check(url: string): Promise<void>;
  /** Rejects only when the signal fires. */
  send(delivery: WebhookDelivery, signal: AbortSignal): Promise<DeliveryOutcome>;
}

/** The events of a task since its last reply, for the address that a binding gave. */
export interface TaskReply {
  /** The address from `CallContext.reply`. */
  readonly to: string;
  /** Name of the agent on this node. */
  readonly agent: string;
  /** Dialect to encode the reply in. */
  readonly dialect: DialectId;
  /**
   * In order, without gaps. The first ones may have been published before. Ids are those that the
   * caller knows.
   */
  readonly events: readonly Logged[];
  /** The task as it is when the message has been dealt with: the answer. */
  readonly task?: Task;
}

/** Port: publishes replies to a broker. */
export interface ReplyPublisher {
  /** Resolves when the broker has accepted all events. A rejected reply is published again later. */
  publish(reply: TaskReply, signal: AbortSignal): Promise<void>;
}

/**
 * Port: encrypts the credentials of webhooks. What was sealed with one `about` opens only with the
 * same.
 */
export interface Vault {
  /** Encrypts a text. */
  seal(text: string, about: string): Promise<string>;
  /** Decrypts a text. Rejects if `about` differs or the text was changed. */
  open(sealed: string, about: string): Promise<string>;
}
