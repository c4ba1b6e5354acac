import type { A2AService, EventStream, Logged, Message, Part, SendResult, TaskEvent } from '#protocol';
import { isA2AError } from '#protocol';

/**
 * One message to a real agent and its response, with the time of each event. One line of a recording.
 */
export interface MockExchange {
  /** Parts of the message. */
  readonly parts: readonly Part[];
  /** Skill that the message named. */
  readonly skill?: string;
  /** Events of the response, each with the milliseconds since the call. */
  readonly events: readonly { readonly afterMs: number; readonly event: TaskEvent }[];
  /** The call was refused, or failed. */
  readonly error?: { readonly kind: string; readonly message: string };
}

/**
 * Wraps a service and calls `onExchange` after every message with its response, to build a recording
 * for a mock.
 *
 * ```ts
 * const exchanges: MockExchange[] = [];
 * const service = recording(client.service, (exchange) => exchanges.push(exchange));
 * ```
 */
export function recording(service: A2AService, onExchange: (exchange: MockExchange) => void): A2AService {
  return {
    ...service,
    send: (request, ctx) => recordSend(service.send(request, ctx), request.message, onExchange),
    stream: (request, ctx) => recordStream(service.stream(request, ctx), request.message, onExchange),
  };
}

async function recordSend(
  sending: Promise<SendResult>,
  message: Message,
  onExchange: (exchange: MockExchange) => void,
): Promise<SendResult> {
  const began = performance.now();
  try {
    const result = await sending;
    onExchange(exchangeOf(message, [{ afterMs: since(began), event: result }]));
    return result;
  } catch (thrown) {
    onExchange(exchangeOf(message, [], thrown));
    throw thrown;
  }
}

async function* recordStream(
  stream: EventStream,
  message: Message,
  onExchange: (exchange: MockExchange) => void,
): AsyncGenerator<readonly Logged[], void> {
  const began = performance.now();
  const events: { afterMs: number; event: TaskEvent }[] = [];
  let failure: { readonly thrown: unknown } | undefined;
  try {
    for await (const batch of stream) {
      for (const { event } of batch) events.push({ afterMs: since(began), event });
      yield batch;
    }
  } catch (thrown) {
    failure = { thrown };
    throw thrown;
  } finally {
    onExchange(exchangeOf(message, events, failure?.thrown));
  }
}

/** A message with its events, in the form of a recording. */
function exchangeOf({ parts, metadata }: Message, events: MockExchange['events'], thrown?: unknown): MockExchange {
  const skill = metadata?.['skillId'];
  return {
    parts,
    ...(typeof skill === 'string' ? { skill } : {}),
    events,
    ...(thrown === undefined ? {} : { error: errorOf(thrown) }),
  };
}

function errorOf(thrown: unknown): NonNullable<MockExchange['error']> {
  if (isA2AError(thrown)) return { kind: thrown.kind, message: thrown.message };
  return { kind: 'INTERNAL_ERROR', message: thrown instanceof Error ? thrown.message : String(thrown) };
}

function since(began: number): number {
  return Math.round(performance.now() - began);
}
