import type { Msg, MsgHdrs, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import type { Broker, BrokerOptions, BrokerSubscription, OutgoingMessage, ReceivedMessage } from '../broker.ts';
import { BROKER_DEFAULTS, BrokerError } from '../broker.ts';
import { isFilter, publishProblem } from '../topics.ts';
import { retainer } from './nats/retained.ts';
import { headerValue, readHeader, subjectOf, topicOf } from './nats/subjects.ts';
import { createWindow } from './nats/window.ts';

/** Options of `connectNats`. */
export interface NatsConnectionOptions extends BrokerOptions {
  /** `nats://host:4222`, or several addresses. */
  readonly servers: string | readonly string[];
  /** User name for the broker. */
  readonly user?: string;
  /** Password of the user. */
  readonly pass?: string;
  /** A token instead of user and password. */
  readonly token?: string;
  /** Paths of PEM files. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
}

type Nats = typeof import('@nats-io/transport-node');

/**
 * Connects to NATS core, with headers and queue groups. Needs the package `@nats-io/transport-node`.
 * NATS stores nothing and redelivers nothing: publishers keep their retained messages, and callers
 * repeat their requests.
 *
 * ```ts
 * const broker = await connectNats({ servers: 'nats://127.0.0.1:4222' });
 * ```
 */
export async function connectNats(options: NatsConnectionOptions): Promise<Broker> {
  const nats = await import('@nats-io/transport-node').catch((cause: unknown) => {
    throw new BrokerError('NATS needs the package @nats-io/transport-node, which is not installed', {
      hint: 'npm install @nats-io/transport-node',
      cause,
    });
  });
  try {
    return brokerOver(nats, await nats.connect(connectionOptions(options)), options);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BrokerError(`no NATS server responds at ${String(options.servers)}: ${reason}`, { hint: 'check that it is running', cause });
  }
}

/** The options of the NATS client. It reconnects without an end. */
function connectionOptions({ servers, user, pass, token, tls, clientId }: NatsConnectionOptions): NodeConnectionOptions {
  const given = Object.entries({ user, pass, token, tls, name: clientId }).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(given),
    servers: typeof servers === 'string' ? servers : [...servers],
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    pingInterval: 15_000,
  };
}

const HEADERS = {
  contentType: 'Content-Type',
  responseTopic: 'Response-Topic',
  correlation: 'Correlation-Data',
  expiresAt: 'Expires-At',
} as const;

/** The connection as a `Broker`. */
function brokerOver(nats: Nats, connection: NatsConnection, options: NatsConnectionOptions): Broker {
  const listeners = new Set<(isConnected: boolean) => void>();
  let isConnected = true;
  const watch = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue;
      isConnected = type === 'reconnect';
      for (const listener of listeners) listener(isConnected);
    }
  };
  void watch();
  const flushed = flusher(connection);
  const send = (subject: string, message: OutgoingMessage): void => {
    connection.publish(subject, message.payload, { headers: headersOf(nats.headers(), message) });
  };
  const retained = retainer(connection, send);
  const hand = async (subscription: BrokerSubscription, message: Msg, isRetained: boolean): Promise<void> => {
    try {
      const incoming = incomingOf(message, isRetained);
      if (incoming !== undefined) await subscription.handle(incoming);
    } catch (thrown) {
      options.onProblem?.(`a message on ${message.subject} could not be handled; NATS does not send it again`, thrown);
    }
  };
  return {
    features: { redelivers: false, retains: 'publisher', lastWill: false, reportsNoSubscribers: false },
    get isConnected() {
      return isConnected && !connection.isClosed();
    },
    publish: async (message) => {
      const problem = publishProblem(message);
      if (problem !== undefined) throw new BrokerError(problem);
      try {
        send(subjectOf(message.topic), message);
        if (message.retain === true) retained.keep(message);
        if (message.qos !== 0) await flushed();
        return {};
      } catch (cause) {
        throw new BrokerError(`NATS did not accept a message on ${message.topic}`, { cause });
      }
    },
    subscribe: async (subscription) => {
      const { filter, group } = subscription;
      if (!isFilter(filter)) throw new BrokerError(`${filter.slice(0, 100)} is not a topic filter`);
      const enqueue = createWindow({
        inFlightMax: options.inFlightMax ?? BROKER_DEFAULTS.inFlightMax,
        hand: (message) => hand(subscription, message, false),
        onFull: () => options.onProblem?.(`messages on ${filter} arrive faster than they are handled; some are dropped`),
      });
      const granted = connection.subscribe(subjectOf(filter), {
        ...(group === undefined ? {} : { queue: group }),
        callback: (problem, message) =>
          problem === null ? enqueue(message) : options.onProblem?.(`the subscription to ${filter} has failed`, problem),
      });
      if (group === undefined) retained.ask(filter, (message) => hand(subscription, message, true));
      await connection.flush();
      return async () => granted.unsubscribe();
    },
    onConnectionChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => closed(connection, isConnected),
  };
}

const CLOSE_MS = 2000;
const FLUSH_MS = 10_000;

/** Waits for messages in flight, unless the server is unreachable. */
async function closed(connection: NatsConnection, isConnected: boolean): Promise<void> {
  if (isConnected && !connection.isClosed()) await inTime(connection.drain(), CLOSE_MS).catch(() => undefined);
  await connection.close();
}

/** Waits, but not longer than this. */
async function inTime(done: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no response within ${ms / 1000} s`)), ms);
  try {
    await Promise.race([done, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** One round trip for all messages that are published in the meantime. */
function flusher(connection: NatsConnection): () => Promise<void> {
  let flushing: Promise<void> | undefined;
  return () => {
    flushing ??= Promise.resolve().then(() => {
      flushing = undefined;
      return inTime(connection.flush(), FLUSH_MS); // without a limit NATS waits for an unreachable server for ever
    });
    return flushing;
  };
}

function headersOf(headers: MsgHdrs, message: OutgoingMessage): MsgHdrs {
  for (const [name, value] of Object.entries(message.properties ?? {})) headers.set(headerValue(name), headerValue(value));
  if (message.contentType !== undefined) headers.set(HEADERS.contentType, headerValue(message.contentType));
  if (message.responseTopic !== undefined) headers.set(HEADERS.responseTopic, headerValue(message.responseTopic));
  if (message.correlation !== undefined) headers.set(HEADERS.correlation, Buffer.from(message.correlation).toString('base64url'));
  if (message.expiryMs !== undefined) headers.set(HEADERS.expiresAt, String(Date.now() + message.expiryMs));
  return headers;
}

/** Undefined when the message has expired. */
function incomingOf({ subject, data, headers }: Msg, isRetained: boolean): ReceivedMessage | undefined {
  const read = (name: string): string | undefined => (headers?.has(name) === true ? readHeader(headers.get(name)) : undefined);
  const [contentType, responseTopic] = [read(HEADERS.contentType), read(HEADERS.responseTopic)];
  const correlation = headers?.has(HEADERS.correlation) === true ? headers.get(HEADERS.correlation) : undefined;
  if (Number(read(HEADERS.expiresAt) ?? Number.POSITIVE_INFINITY) < Date.now()) return undefined;
  const own: readonly string[] = Object.values(HEADERS);
  const named = (headers?.keys() ?? []).filter((name) => !own.includes(name));
  return {
    topic: read('Topic') ?? topicOf(subject),
    payload: data,
    properties: Object.fromEntries(named.filter((name) => name !== 'Topic').map((name) => [readHeader(name), read(name) ?? ''])),
    ...(contentType === undefined ? {} : { contentType }),
    ...(responseTopic === undefined ? {} : { responseTopic }),
    ...(correlation === undefined ? {} : { correlation: Buffer.from(correlation, 'base64url') }),
    isRetained,
  };
}
