import { parseJson } from '#bindings';
import { A2AError, DEFAULT_READ_LIMITS } from '#protocol';
import type { Broker, OutgoingMessage, ReceivedMessage } from '../../broker.ts';
import { BROKER_DEFAULTS } from '../../broker.ts';

export const JSON_TYPE = 'application/json';
const JSON_MEMBERS_MAX = 100_000;
const encoder = new TextEncoder();

export function encode(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Parses the payload of a request within the limits for hostile input (docs/faults.md). */
export function parseRequest({ payload }: ReceivedMessage): ReturnType<typeof parseJson> {
  if (payload.length > BROKER_DEFAULTS.packetBytesMax) throw new A2AError('PAYLOAD_TOO_LARGE');
  return parseJson(payload, DEFAULT_READ_LIMITS.jsonDepthMax, JSON_MEMBERS_MAX);
}

/**
 * A reply above the broker's limit would be retried for ever, so the caller gets an error in its place.
 */
export function withinLimit(
  message: OutgoingMessage,
  errorText: (error: { readonly code: number; readonly message: string }) => string,
): OutgoingMessage {
  if (fitsBroker(message)) return message;
  return { ...message, payload: encoder.encode(errorText({ code: -32_603, message: tooLarge(message) })) };
}

export function fitsBroker({ payload }: OutgoingMessage): boolean {
  return payload.length <= BROKER_DEFAULTS.packetBytesMax;
}

/** Why a reply can't be sent. */
export function tooLarge({ payload }: OutgoingMessage): string {
  const { packetBytesMax } = BROKER_DEFAULTS;
  return `the reply has ${payload.length} bytes; the maximum over a broker is ${packetBytesMax}. Give all members the same --artifacts place`;
}

/**
 * Publishes a batch at once: a broker keeps the order of one publisher. Throws the first failure, after
 * all have settled.
 */
export async function publishAll(broker: Broker, messages: readonly OutgoingMessage[]): Promise<void> {
  const results = await Promise.allSettled(messages.map((message) => broker.publish(message)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** The sequence number that our agents put beside an event. Undefined for agents of others. */
export function readSeqNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
