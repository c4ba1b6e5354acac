import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { OutgoingMessage } from '../../broker.ts';
import { matches } from '../../topics.ts';
import { headerValue } from './subjects.ts';

/** The subject on which a new subscriber asks publishers for their retained messages. */
const RETAINED_REQUEST = '_parley.retained';
/** How long to wait for retained messages. Later ones are as old as the publisher's next message. */
const RESPONSES_MS = 2000;

/** The status that the server sends when a subject has no subscribers. */
const NO_RESPONDERS = 503;

/** Emulates retained messages on NATS core. */
export interface Retainer {
  /** Keeps a message for later subscribers. An empty payload removes it. */
  keep(message: OutgoingMessage): void;
  /** Asks all publishers for the retained messages of a filter. */
  ask(filter: string, handle: (message: Msg) => Promise<void>): void;
}

/**
 * NATS core stores nothing. The publisher keeps a retained message and sends it to later subscribers
 * while it is running.
 */
export function retainer(connection: NatsConnection, send: (subject: string, message: OutgoingMessage) => void): Retainer {
  const kept = new Map<string, OutgoingMessage>();
  let isAnswering = false;
  const answer = async (): Promise<void> => {
    for await (const request of connection.subscribe(RETAINED_REQUEST)) {
      const filter = request.string();
      if (request.reply === undefined) continue;
      for (const message of kept.values()) {
        if (!matches(filter, message.topic)) continue;
        send(request.reply, { ...message, properties: { ...message.properties, Topic: headerValue(message.topic) } });
      }
    }
  };
  return {
    keep: (message) => {
      if (message.payload.length === 0) kept.delete(message.topic);
      else kept.set(message.topic, message);
      if (isAnswering) return;
      isAnswering = true;
      void answer();
    },
    ask: (filter, take) => {
      const inbox = `_INBOX.${crypto.randomUUID()}`;
      const answers = connection.subscribe(inbox, {
        callback: (error, message) => void (error ?? (message.headers?.code === NO_RESPONDERS ? undefined : take(message))),
      });
      connection.publish(RETAINED_REQUEST, filter, { reply: inbox });
      setTimeout(() => answers.unsubscribe(), RESPONSES_MS).unref();
    },
  };
}
