import type { IClientPublishOptions, MqttClient } from 'mqtt';
import type { OutgoingMessage, PublishResult } from '../../broker.ts';
import { BrokerError } from '../../broker.ts';
import { publishProblem } from '../../topics.ts';

const NO_SUBSCRIBERS = 0x10;
const NOT_AUTHORIZED = 0x87;
/** A message without an acknowledgement fails after this time. */
const PUBLISH_TIMEOUT_MS = 10_000;
const CHECK_MS = 500;

/** Publishes over one connection. */
export interface Publishing {
  /** Resolves when the broker has acknowledged the message. Rejects with a BrokerError. */
  publish(message: OutgoingMessage): Promise<PublishResult>;
  close(): void;
}

interface Pending {
  readonly until: number;
  fail(cause: Error): void;
}

/** Publishes messages and waits for the broker's acknowledgement of each. */
export function createPublishing(client: MqttClient): Publishing {
  /**
   * In the order of their deadlines. One timer checks all of them: there may be thousands per second.
   */
  const pending = new Set<Pending>();
  const withoutSubscribers = new Set<number>();
  client.on('packetreceive', (packet) => {
    if (packet.cmd === 'puback' && packet.reasonCode === NO_SUBSCRIBERS && packet.messageId !== undefined)
      withoutSubscribers.add(packet.messageId);
  });
  // mqtt.js queues messages while the broker is unreachable. The caller gets an error after the timeout instead of waiting for it.
  const timer = setInterval(() => {
    const now = performance.now();
    for (const one of pending) {
      if (one.until > now) return;
      one.fail(new Error(`no acknowledgement within ${PUBLISH_TIMEOUT_MS / 1000} s`));
    }
  }, CHECK_MS);
  timer.unref();
  const send = (message: OutgoingMessage): Promise<PublishResult> => {
    const { promise, resolve, reject } = Promise.withResolvers<PublishResult>();
    const one: Pending = {
      until: performance.now() + PUBLISH_TIMEOUT_MS,
      fail: (cause) => {
        pending.delete(one);
        const isForbidden = (cause as { readonly code?: unknown }).code === NOT_AUTHORIZED;
        const hint = isForbidden ? { hint: 'check that this user may publish to it' } : {};
        reject(new BrokerError(`the broker did not accept a message on ${message.topic}`, { ...hint, cause }));
      },
    };
    pending.add(one);
    const { buffer, byteOffset, byteLength } = message.payload;
    client.publish(message.topic, Buffer.from(buffer, byteOffset, byteLength), optionsOf(message), (problem, packet) => {
      if (problem !== null && problem !== undefined) return one.fail(problem);
      pending.delete(one);
      const id = packet?.messageId;
      resolve(id === undefined ? {} : { hasSubscribers: !withoutSubscribers.delete(id) });
    });
    return promise;
  };
  return {
    publish: async (message) => {
      const problem = publishProblem(message);
      if (problem !== undefined) throw new BrokerError(problem);
      return await send(message);
    },
    close: () => clearInterval(timer),
  };
}

/** The options of a packet. Members that the message does not have are left out. */
function optionsOf(message: OutgoingMessage): IClientPublishOptions {
  const properties: NonNullable<IClientPublishOptions['properties']> = {};
  // mqtt.js writes an empty list as a packet that brokers can't read.
  for (const _ in message.properties) {
    properties.userProperties = message.properties;
    break;
  }
  if (message.contentType !== undefined) properties.contentType = message.contentType;
  if (message.responseTopic !== undefined) properties.responseTopic = message.responseTopic;
  if (message.correlation !== undefined) properties.correlationData = Buffer.from(message.correlation);
  if (message.expiryMs !== undefined) properties.messageExpiryInterval = Math.max(1, Math.ceil(message.expiryMs / 1000));
  return { qos: message.qos === 0 ? 0 : 1, retain: message.retain ?? false, properties };
}
