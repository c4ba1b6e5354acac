import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { OutgoingMessage } from '../../broker.ts';
import { matches } from '../../topics.ts';
import { headerValue } from './subjects.ts';

/** Where a new subscriber asks those who retain something for it. */
const ASKING = '_parley.retained';
/** Answers that come later than this are of no use: the publisher's next one is as new. */
const ANSWERS_MS = 2000;

/** What the server itself answers when nobody listens. */
const NOBODY = 503;

export interface Retainer {
  keep(message: OutgoingMessage): void;
  ask(filter: string, handle: (message: Msg) => Promise<void>): void;
}

/** Core NATS keeps nothing. Whoever published a message as retained keeps it, and hands it to those who subscribe later, while it lives. */
export function retainer(connection: NatsConnection, send: (subject: string, message: OutgoingMessage) => void): Retainer {
  const kept = new Map<string, OutgoingMessage>();
  let isAnswering = false;
  const answer = async (): Promise<void> => {
    for await (const asked of connection.subscribe(ASKING)) {
      const filter = asked.string();
      if (asked.reply === undefined) continue;
      for (const message of kept.values()) {
        if (!matches(filter, message.topic)) continue;
        send(asked.reply, { ...message, properties: { ...message.properties, Topic: headerValue(message.topic) } });
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
        callback: (error, message) => void (error ?? (message.headers?.code === NOBODY ? undefined : take(message))),
      });
      connection.publish(ASKING, filter, { reply: inbox });
      setTimeout(() => answers.unsubscribe(), ANSWERS_MS).unref();
    },
  };
}
