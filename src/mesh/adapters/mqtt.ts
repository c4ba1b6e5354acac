import type { IClientOptions, IPublishPacket, MqttClient } from 'mqtt';
import type { Broker, BrokerOptions, BrokerSubscription, ReceivedMessage } from '../broker.ts';
import { BROKER_DEFAULTS, BrokerError } from '../broker.ts';
import { isFilter, matches } from '../topics.ts';
import { batchWrites } from './mqtt/batch-writes.ts';
import { createPublishing } from './mqtt/publishing.ts';
import { watchStalls } from './mqtt/stalls.ts';

export interface MqttConnectionOptions extends BrokerOptions {
  /** `mqtt://host:1883`, `mqtts://…`, `ws://…`, `wss://…`. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  readonly ca?: string | Uint8Array;
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  readonly keepaliveSeconds?: number;
  readonly connectTimeoutMs?: number;
  /** The session, with what waits in it unacknowledged, outlives a lost connection for so long. 0: it does not. */
  readonly sessionSeconds?: number;
}

const SESSION_SECONDS = 300;

/** MQTT 5: Mosquitto, EMQX, HiveMQ, Solace. */
export async function connectMqtt(options: MqttConnectionOptions): Promise<Broker> {
  const { default: mqtt } = await import('mqtt').catch((cause: unknown) => {
    throw new BrokerError('MQTT needs the package mqtt, which is not installed', { hint: 'npm install mqtt', cause });
  });
  const client = mqtt.connect(options.url, clientOptions(options));
  client.on('connect', () => {
    // Small packets go at once: with Nagle's algorithm each acknowledgement may wait 40 ms for the other side's.
    (client.stream as { setNoDelay?: (on: boolean) => void }).setNoDelay?.(true);
    batchWrites(client.stream);
  });
  await untilConnected(client, options);
  return brokerOver(client, options);
}

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
    // With a session the broker goes on where the connection was lost; without, we subscribe anew. Either way we do not rely on it:
    // a broker that was killed forgets its sessions (reference/faults B1).
    clean: options.sessionSeconds === 0,
    resubscribe: true,
    reconnectPeriod: 250,
    connectTimeout: options.connectTimeoutMs ?? 10_000,
    keepalive: options.keepaliveSeconds ?? 15,
    properties: {
      receiveMaximum: options.inFlightMax ?? BROKER_DEFAULTS.inFlightMax,
      maximumPacketSize: options.packetBytesMax ?? BROKER_DEFAULTS.packetBytesMax,
      sessionExpiryInterval: options.sessionSeconds ?? SESSION_SECONDS,
    },
  };
}

/** The first connection must come about: a wrong address or password is the caller's to know. Later ones are retried for ever. */
async function untilConnected(client: MqttClient, { url }: MqttConnectionOptions): Promise<void> {
  const where = new URL(url).host;
  await new Promise<void>((resolve, reject) => {
    const fail = (cause?: unknown): void => {
      client.end(true);
      const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : 'the connection was closed';
      reject(new BrokerError(`no MQTT broker answers at ${where}: ${reason}`, { hint: 'is it running, and does it speak MQTT 5?', cause }));
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

/** What mqtt.js keeps to itself: it acknowledges a message before it handles the next, and we want many under way at once. */
interface Acknowledger {
  _sendPacket(packet: { cmd: 'puback'; messageId: number; reasonCode: number }): void;
}

const TAKEN_OVER = 0x8e;
/** Made once: an error is made with a stack, which costs more than the message. */
const LATER = new Error('acknowledged later');

function brokerOver(client: MqttClient, options: MqttConnectionOptions): Broker {
  const subscriptions: Subscriptions = new Map();
  // One ear at the client for all: there may be one for each call under way.
  const listeners = new Set<(isConnected: boolean) => void>();
  const tell = (isConnected: boolean): void => {
    for (const listener of [...listeners]) listener(isConnected);
  };
  client.on('connect', () => tell(true)).on('close', () => tell(false));
  client.on('error', (cause) => options.onProblem?.('the MQTT connection has a problem', cause));
  client.on('disconnect', ({ reasonCode }) => {
    if (reasonCode !== TAKEN_OVER) return;
    client.options.reconnectPeriod = 0; // or the two would throw each other out for ever
    options.onProblem?.(`another client has connected as ${client.options.clientId}; this one has left the broker`);
  });
  const stalls = watchStalls({ roundTrip: () => pinged(client) });
  const publishing = createPublishing(client);
  const handle = (packet: IPublishPacket): Promise<void> | void => {
    if (isExpired(packet, stalls.lagMs())) return undefined;
    const message = incomingOf(packet);
    const [only, ...others] = listening(subscriptions, packet);
    if (others.length === 0) return only?.handle(message);
    return Promise.all([only, ...others].map(async (each) => await each?.handle(message))).then(() => undefined);
  };
  // Acknowledged when it was taken, not when it was read: what a crash in between loses comes again. `callback(error)` goes on with the
  // next packet without acknowledging this one.
  client.handleMessage = (packet, callback) => {
    const { stream } = client;
    const acknowledge = (): void => {
      if (packet.qos !== 1 || packet.messageId === undefined || client.stream !== stream || !client.connected) return;
      (client as unknown as Acknowledger)._sendPacket({ cmd: 'puback', messageId: packet.messageId, reasonCode: 0 });
    };
    const refuse = (thrown: unknown): void => {
      options.onProblem?.(`a message on ${packet.topic} could not be taken; it comes again`, thrown);
      if (packet.qos > 0) client.stream.destroy(); // the one way to make an MQTT broker send it again
    };
    try {
      const taken = handle(packet);
      if (taken === undefined) acknowledge();
      else taken.then(acknowledge, refuse);
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
    subscribe: (subscription) => subscribe(client, subscriptions, subscription),
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

/** Whoever sent it has sent it again, and another may have it (reference/faults B5). */
function isExpired({ properties }: IPublishPacket, lagMs: number): boolean {
  const seconds = properties?.messageExpiryInterval;
  return lagMs > 0 && seconds !== undefined && lagMs >= seconds * 1000;
}

/** Until the broker has answered to a ping, or the connection is no more. */
async function pinged(client: MqttClient): Promise<void> {
  if (!client.connected) return;
  const answered = Promise.withResolvers<void>();
  const hear = ({ cmd }: { readonly cmd?: string }): void => {
    if (cmd === 'pingresp') answered.resolve();
  };
  client.on('packetreceive', hear).once('close', answered.resolve);
  client.sendPing();
  await answered.promise;
  client.off('packetreceive', hear).off('close', answered.resolve);
}

const CLOSE_MS = 2000;

/** What is on its way gets a moment. mqtt.js would wait for ever for one that the broker does not take. */
async function closed(client: MqttClient): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, CLOSE_MS);
  await Promise.race([client.endAsync(!client.connected), late.promise]);
  clearTimeout(timer);
  client.stream.destroy();
}

/** By the identifier each was made with. */
type Subscriptions = Map<number, BrokerSubscription>;

/**
 * A topic may match several of our filters, and the broker then sends one copy for all or one for each (MQTT 5 §3.3.4): the identifiers
 * in the packet say whose it is. A broker without them leaves us the filters to go by.
 */
function listening(subscriptions: Subscriptions, { topic, properties }: IPublishPacket): readonly BrokerSubscription[] {
  const named = properties?.subscriptionIdentifier;
  if (typeof named === 'number') {
    const one = subscriptions.get(named);
    return one === undefined ? [] : [one];
  }
  if (named === undefined) return [...subscriptions.values()].filter(({ filter }) => matches(filter, topic));
  return [named].flat().flatMap((id) => subscriptions.get(id) ?? []);
}

async function subscribe(client: MqttClient, all: Subscriptions, subscription: BrokerSubscription): Promise<() => Promise<void>> {
  const { filter, group } = subscription;
  if (!isFilter(filter)) throw new BrokerError(`${filter.slice(0, 100)} is not a topic filter`);
  const asked = group === undefined ? filter : `$share/${group}/${filter}`;
  const isTwice = [...all.values()].some((other) => other.filter === filter && other.group === group);
  if (isTwice) throw new BrokerError(`${asked} is subscribed to already on this connection`); // MQTT would replace the first
  const id = Math.max(0, ...all.keys()) + 1;
  all.set(id, subscription);
  try {
    await client.subscribeAsync(asked, { qos: 1, properties: { subscriptionIdentifier: id } });
  } catch (cause) {
    all.delete(id);
    throw new BrokerError(`the broker did not grant ${asked}`, { hint: 'may this user subscribe there?', cause });
  }
  return async () => {
    all.delete(id);
    if (client.connected) await client.unsubscribeAsync(asked).catch(() => undefined);
  };
}

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
