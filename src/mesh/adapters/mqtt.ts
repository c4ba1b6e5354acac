import type { IClientOptions, IPublishPacket, MqttClient } from 'mqtt';
import { codeOfError } from '#protocol';
import type { Broker, BrokerOptions, ReceivedMessage } from '../broker.ts';
import { BROKER_DEFAULTS, BrokerError } from '../broker.ts';
import { batchWrites } from './mqtt/batch-writes.ts';
import { holdEarlyMessages } from './mqtt/early-messages.ts';
import { createPublishing } from './mqtt/publishing.ts';
import { watchStalls } from './mqtt/stalls.ts';
import type { Subscriptions } from './mqtt/subscriptions.ts';
import { receivers, subscribe } from './mqtt/subscriptions.ts';

/** Options of `connectMqtt`. */
export interface MqttConnectionOptions extends BrokerOptions {
  /** `mqtt://host:1883`, `mqtts://…`, `ws://…`, `wss://…`. */
  readonly url: string;
  /** User name for the broker. */
  readonly username?: string;
  /** Password for the broker. It is sent in the clear unless the URL has TLS. */
  readonly password?: string;
  /** Certificate authority of the broker, in PEM. Default: the authorities of the system. */
  readonly ca?: string | Uint8Array;
  /** Client certificate, in PEM. */
  readonly cert?: string | Uint8Array;
  /** Private key of the client certificate, in PEM. */
  readonly key?: string | Uint8Array;
  /** Interval of pings. Default 15. */
  readonly keepaliveSeconds?: number;
  /** Time limit of the first connection, in milliseconds. */
  readonly connectTimeoutMs?: number;
  /**
   * How long the broker keeps the session, with its unacknowledged messages, after a lost connection.
   * 0: not at all. Default 300.
   */
  readonly sessionSeconds?: number;
}

const SESSION_SECONDS = 300;
/** For the topic and the properties of a message. */
const HEAD_BYTES_MAX = 65_536;

/**
 * Connects to an MQTT 5 broker: Mosquitto, EMQX, HiveMQ, Solace. Needs the package `mqtt`.
 *
 * ```ts
 * const broker = await connectMqtt({ url: 'mqtt://127.0.0.1:1883' });
 * ```
 */
export async function connectMqtt(options: MqttConnectionOptions): Promise<Broker> {
  const { default: mqtt } = await import('mqtt').catch((cause: unknown) => {
    throw new BrokerError('MQTT needs the package mqtt, which is not installed', { hint: 'npm install mqtt', cause });
  });
  const client = mqtt.connect(options.url, clientOptions(options));
  client.on('connect', () => {
    // With Nagle's algorithm each small packet could wait 40 ms for an acknowledgement.
    (client.stream as { setNoDelay?: (on: boolean) => void }).setNoDelay?.(true);
    batchWrites(client.stream);
  });
  // Before the connection: the messages of a session arrive right behind the broker's answer.
  const broker = brokerOver(client, options);
  try {
    await untilConnected(client, options);
  } catch (thrown) {
    await broker.close();
    throw thrown;
  }
  client.on('error', (cause) => options.onProblem?.('the MQTT connection has failed', cause));
  return broker;
}

/** The options of mqtt.js. */
function clientOptions(options: MqttConnectionOptions): IClientOptions {
  const { lastWill } = options;
  const will = lastWill && {
    topic: lastWill.topic,
    payload: Buffer.from(lastWill.payload),
    qos: 1 as const,
    retain: lastWill.retain ?? false,
    ...(lastWill.properties === undefined ? {} : { properties: { userProperties: lastWill.properties } }),
  };
  const { username, password, ca, cert, key } = options;
  const given = Object.entries({ username, password, ca, cert, key, will }).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(given),
    protocolVersion: 5,
    clientId: options.clientId ?? `parley-${crypto.randomUUID()}`,
    // With a session the broker delivers what was unacknowledged after a reconnect. Nothing relies on it, because a broker that is
    // killed loses its sessions (docs/faults.md, B1).
    clean: options.sessionSeconds === 0,
    resubscribe: true,
    reconnectPeriod: 250,
    connectTimeout: options.connectTimeoutMs ?? 10_000,
    keepalive: options.keepaliveSeconds ?? 15,
    properties: {
      receiveMaximum: options.inFlightMax ?? BROKER_DEFAULTS.inFlightMax,
      // Topic and properties count too. A broker drops a packet above the maximum without a word to its sender.
      maximumPacketSize: (options.packetBytesMax ?? BROKER_DEFAULTS.packetBytesMax) + HEAD_BYTES_MAX,
      sessionExpiryInterval: options.sessionSeconds ?? SESSION_SECONDS,
    },
  };
}

/**
 * Fails when the first connection fails, so that the caller learns of a wrong address or password.
 * Reconnects are retried for ever.
 */
async function untilConnected(client: MqttClient, { url }: MqttConnectionOptions): Promise<void> {
  const where = new URL(url).host;
  await new Promise<void>((resolve, reject) => {
    const fail = (cause?: unknown): void => {
      client.end(true);
      const reason = cause instanceof Error ? cause.message || codeOfError(cause) : 'the connection was closed';
      reject(
        new BrokerError(`no MQTT broker responds at ${where}: ${reason}`, { hint: 'check that it is running and supports MQTT 5', cause }),
      );
    };
    client.once('connect', () => {
      client.off('error', fail);
      client.off('close', fail);
      resolve();
    });
    client.once('error', fail);
    client.once('close', fail);
  });
}

/**
 * A private method of mqtt.js. Its public API handles one message at a time; this one allows many at
 * once.
 */
interface Acknowledger {
  _sendPacket(packet: { cmd: 'puback'; messageId: number; reasonCode: number }): void;
}

const TAKEN_OVER = 0x8e;
/** Created once: an error with its stack costs more than a message. */
const LATER = new Error('acknowledged later');

/** The connection as a `Broker`. */
function brokerOver(client: MqttClient, options: MqttConnectionOptions): Broker {
  const subscriptions: Subscriptions = new Map();
  // One listener on the client for all callers: there may be one for each running call.
  const listeners = new Set<(isConnected: boolean) => void>();
  const notify = (isConnected: boolean): void => {
    for (const listener of [...listeners]) listener(isConnected);
  };
  client.on('connect', () => notify(true)).on('close', () => notify(false));
  client.on('disconnect', ({ reasonCode }) => {
    if (reasonCode !== TAKEN_OVER) return;
    client.options.reconnectPeriod = 0; // otherwise the two clients would disconnect each other for ever
    options.onProblem?.(`another client has connected as ${client.options.clientId}; this one has left the broker`);
  });
  const stalls = watchStalls({ roundTrip: () => pinged(client) });
  const publishing = createPublishing(client);
  const early = options.sessionSeconds === 0 ? undefined : holdEarlyMessages();
  const handle = (packet: IPublishPacket): Promise<void> | void => {
    if (isExpired(packet, stalls.lagMs())) return undefined;
    const message = incomingOf(packet);
    const [only, ...others] = receivers(subscriptions, packet);
    if (only === undefined) return early?.hold(() => handle(packet));
    if (others.length === 0) return only.handle(message);
    return Promise.all([only, ...others].map(async (each) => await each.handle(message))).then(() => undefined);
  };
  // A message is acknowledged when it is handled, not when it is read, so that the broker sends it again after a crash in between.
  // `callback(error)` continues with the next packet without acknowledging this one.
  client.handleMessage = (packet, callback) => {
    const { stream } = client;
    const acknowledge = (): void => {
      if (packet.qos !== 1 || packet.messageId === undefined || client.stream !== stream || !client.connected) return;
      (client as unknown as Acknowledger)._sendPacket({ cmd: 'puback', messageId: packet.messageId, reasonCode: 0 });
    };
    const refuse = (thrown: unknown): void => {
      options.onProblem?.(`a message on ${packet.topic} could not be handled; the broker sends it again`, thrown);
      if (packet.qos > 0) client.stream.destroy(); // the only way to make an MQTT broker send it again
    };
    try {
      const handled = handle(packet);
      if (handled === undefined) acknowledge();
      else handled.then(acknowledge, refuse);
    } catch (thrown) {
      refuse(thrown);
    }
    callback(packet.qos === 1 ? LATER : undefined);
  };
  return {
    features: { redelivers: true, retains: 'broker', lastWill: true, reportsNoSubscribers: true },
    get isConnected() {
      return client.connected;
    },
    publish: publishing.publish,
    subscribe: (subscription) => {
      const granted = subscribe(client, subscriptions, subscription);
      early?.subscribed();
      return granted;
    },
    onConnectionChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => {
      stalls.close();
      publishing.close();
      return closed(client);
    },
  };
}

/**
 * The sender has published an expired message again, and another replica may have it (docs/faults.md,
 * B5).
 */
function isExpired({ properties }: IPublishPacket, lagMs: number): boolean {
  const seconds = properties?.messageExpiryInterval;
  return lagMs > 0 && seconds !== undefined && lagMs >= seconds * 1000;
}

/** Resolves when the broker has answered a ping, or the connection is closed. */
async function pinged(client: MqttClient): Promise<void> {
  if (!client.connected) return;
  const answered = Promise.withResolvers<void>();
  const onPacket = ({ cmd }: { readonly cmd?: string }): void => {
    if (cmd === 'pingresp') answered.resolve();
  };
  client.on('packetreceive', onPacket).once('close', answered.resolve);
  client.sendPing();
  await answered.promise;
  client.off('packetreceive', onPacket).off('close', answered.resolve);
}

const CLOSE_MS = 2000;

/** Waits for messages in flight, but not for ever as mqtt.js does. */
async function closed(client: MqttClient): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, CLOSE_MS);
  await Promise.race([client.endAsync(!client.connected), late.promise]);
  clearTimeout(timer);
  client.stream.destroy();
}

/** A received packet as a message. */
function incomingOf(packet: IPublishPacket): ReceivedMessage {
  const { properties } = packet;
  const { contentType, responseTopic, correlationData } = properties ?? {};
  const given = properties?.userProperties ?? {};
  const read: Record<string, string> = {};
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (name !== '__proto__') read[name] = Array.isArray(value) ? (value[0] ?? '') : (value ?? '');
  }
  return {
    topic: packet.topic,
    payload: typeof packet.payload === 'string' ? Buffer.from(packet.payload) : packet.payload,
    properties: read,
    ...(contentType === undefined ? {} : { contentType }),
    ...(responseTopic === undefined ? {} : { responseTopic }),
    ...(correlationData === undefined ? {} : { correlation: correlationData }),
    isRetained: packet.retain,
  };
}
