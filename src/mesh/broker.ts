/**
 * The port to a message broker: `connectMqtt`, `connectNats` or `memoryHub`. Topics and filters have
 * MQTT's syntax (`/`, `+` for one level, `#` for the rest); adapters translate them. A broker only
 * transports messages: a request is durable when it is in our store, not when the broker acknowledges
 * it.
 */
export interface Broker {
  /** What this kind of broker can do. */
  readonly features: BrokerFeatures;
  /** Whether messages can be published now. Adapters reconnect by themselves. */
  readonly isConnected: boolean;
  /**
   * Resolves when the broker has acknowledged the message (QoS 1), or when it is written to the socket
   * (QoS 0).
   */
  publish(message: OutgoingMessage): Promise<PublishResult>;
  /**
   * Resolves when the broker has granted the subscription, which survives reconnects. Returns a
   * function that unsubscribes.
   */
  subscribe(subscription: BrokerSubscription): Promise<() => Promise<void>>;
  /**
   * Calls the listener when the connection is lost or restored. Returns a function that removes the
   * listener.
   */
  onConnectionChange(listener: (isConnected: boolean) => void): () => void;
  /** Disconnects. The last will is not published. */
  close(): Promise<void>;
}

/** What a kind of broker can do. */
export interface BrokerFeatures {
  /**
   * Delivers a message that was not acknowledged again, to this subscriber or to another one of the
   * group.
   */
  readonly redelivers: boolean;
  /** Who stores retained messages: the broker, or the publisher while it is running. */
  readonly retains: 'broker' | 'publisher';
  /** Publishes a message when a client disconnects without notice. */
  readonly lastWill: boolean;
  /** Reports to the publisher when a topic has no subscribers. */
  readonly reportsNoSubscribers: boolean;
}

/** A message to publish. */
export interface OutgoingMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  /** User properties (MQTT) or headers (NATS). */
  readonly properties?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  /** Where the receiver sends its responses. */
  readonly responseTopic?: string;
  /** Bytes that responses carry back unchanged. */
  readonly correlation?: Uint8Array;
  /** Stores the message for later subscribers. An empty payload removes the stored one. */
  readonly retain?: boolean;
  /** The broker drops the message after this time. */
  readonly expiryMs?: number;
  /** 0: the message may be lost. Default: 1, at least once. */
  readonly qos?: 0 | 1;
}

/** What the broker reports about a published message. */
export interface PublishResult {
  /** `false`: the topic has no subscribers. Absent: the broker does not report it. */
  readonly hasSubscribers?: boolean;
}

/** A message from a subscription. */
export interface ReceivedMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly properties: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly responseTopic?: string;
  readonly correlation?: Uint8Array;
  /** The message was stored before this subscription was made. */
  readonly isRetained: boolean;
}

/** A subscription and the handler of its messages. */
export interface BrokerSubscription {
  /** A topic filter in MQTT's syntax. */
  readonly filter: string;
  /** Each message goes to one member of the group. */
  readonly group?: string;
  /**
   * Handles a message. The message is acknowledged when the promise resolves. When it rejects, a broker
   * that redelivers sends the message again. Several messages are handled concurrently, up to
   * `inFlightMax`.
   */
  handle(message: ReceivedMessage): Promise<void> | void;
}

/** A message that the broker publishes when this client disconnects without notice. */
export interface LastWill {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly properties?: Readonly<Record<string, string>>;
  readonly retain?: boolean;
}

/** Options of every adapter, beside its own address and credentials. */
export interface BrokerOptions {
  /** Unique on the broker. Default: random. */
  readonly clientId?: string;
  /** Published by the broker when this client disconnects without notice. */
  readonly lastWill?: LastWill;
  /** Maximum number of messages that are received and not yet acknowledged. Default 256. */
  readonly inFlightMax?: number;
  /** Maximum size of a message in bytes. Default 10 MB. */
  readonly packetBytesMax?: number;
  /** Called with problems outside of a call: a lost connection, a message whose handler failed. */
  onProblem?(problem: string, cause?: unknown): void;
}

/** Defaults of all adapters. */
export const BROKER_DEFAULTS = { inFlightMax: 256, packetBytesMax: 10_000_000 } as const;

/** The broker is unreachable or refused something. `hint` says what to check. */
export class BrokerError extends Error {
  /** What to check or to change. */
  readonly hint: string | undefined;

  constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint;
  }
}
