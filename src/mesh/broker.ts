/**
 * What the mesh needs of a broker, and no more. MqttTopics and filters are written as MQTT writes them (`/`, `+` for one level, `#` for the
 * rest); adapters translate. A broker carries; what makes a request durable is a row in our store, never the broker's word.
 */
export interface Broker {
  readonly features: BrokerFeatures;
  readonly isConnected: boolean;
  /** Resolves when the broker has taken the message (QoS 1) or it has been handed to the socket (QoS 0). */
  publish(message: OutgoingMessage): Promise<PublishResult>;
  /** Resolves when the broker has granted it. It outlives a reconnect. */
  subscribe(subscription: BrokerSubscription): Promise<() => Promise<void>>;
  /** Called on each change, with whether the broker can be reached now. Returns how to stop hearing. */
  onConnectionChange(listener: (isConnected: boolean) => void): () => void;
  /** A clean end: the last will is not published. */
  close(): Promise<void>;
}

export interface BrokerFeatures {
  /** What was not acknowledged comes again, here or to another of the group. */
  readonly redelivers: boolean;
  /** Who keeps retained messages: the broker for good, or the publisher as long as it lives. */
  readonly retains: 'broker' | 'publisher';
  readonly lastWill: boolean;
  /** Tells a publisher that nobody listens. */
  readonly reportsNoSubscribers: boolean;
}

export interface OutgoingMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly properties?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly responseTopic?: string;
  readonly correlation?: Uint8Array;
  /** Kept for those who subscribe later. An empty payload takes the kept one away. */
  readonly retain?: boolean;
  /** Worth nothing after so long. */
  readonly expiryMs?: number;
  /** `false`: it may be lost on the way (QoS 0). */
  readonly qos?: 0 | 1;
}

export interface PublishResult {
  /** `false`: the broker knows that nobody is subscribed. Absent: it does not say. */
  readonly hasSubscribers?: boolean;
}

export interface ReceivedMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly properties: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly responseTopic?: string;
  readonly correlation?: Uint8Array;
  /** It was kept, and is older than this subscription. */
  readonly isRetained: boolean;
}

export interface BrokerSubscription {
  readonly filter: string;
  /** Members of one group share what comes: each message goes to one of them. */
  readonly group?: string;
  /**
   * Takes a message. It is acknowledged to the broker when the promise resolves; where the broker redelivers, one that is rejected comes
   * again. Any number may be under way at once, up to the adapter's window.
   */
  handle(message: ReceivedMessage): Promise<void> | void;
}

export interface LastWill {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly properties?: Readonly<Record<string, string>>;
  readonly retain?: boolean;
}

/** What every adapter is opened with, besides its own address and credentials. */
export interface BrokerOptions {
  /** Unique on the broker. Default: random. */
  readonly clientId?: string;
  readonly lastWill?: LastWill;
  /** Messages taken and not yet acknowledged, at most. */
  readonly inFlightMax?: number;
  readonly packetBytesMax?: number;
  /** What goes wrong outside of a call: a lost connection, a message that could not be taken. */
  onProblem?(problem: string, cause?: unknown): void;
}

export const BROKER_DEFAULTS = { inFlightMax: 256, packetBytesMax: 10_000_000 } as const;

/** The broker refused or could not be reached. `hint` says what to look at. */
export class BrokerError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint;
  }
}
