import type { CallContext, Logged, StreamReader, TaskEvent } from '#protocol';
import { A2AError, isA2AError } from '#protocol';
import { CutOff } from './failures.ts';
import { isMediaType } from './media.ts';
import { aborted, unreadable } from './outward.ts';
import type { SseEvent } from './sse.ts';
import { EVENT_STREAM, readEvents, seqFrom } from './sse.ts';

/** How a stream that comes in is read. */
export interface Incoming {
  readonly reader: StreamReader;
  /** A frame's JSON without its envelope; throws the error that the frame reports. `name` is its `event:`. */
  readonly unwrap: (frame: unknown, name: string | undefined) => unknown;
  readonly eventBytesMax: number;
  readonly idleMs: number | undefined;
  readonly ctx: CallContext;
}

/** What some servers send as the last thing on a stream. */
const DONE = '[DONE]';

export function isEventStream(response: Response): boolean {
  return response.ok && isMediaType(response.headers.get('content-type'), [EVENT_STREAM]);
}

/** The events of an answer, in the batches that the network makes of them. */
export async function* incomingEvents(response: Response, incoming: Incoming): AsyncGenerator<readonly Logged[], void> {
  const { ctx, eventBytesMax, idleMs } = incoming;
  if (response.body === null) return;
  try {
    for await (const frames of readEvents(response.body, eventBytesMax, { signal: ctx.signal, idleMs })) {
      const { batch, ends, error } = gather(frames, incoming);
      if (batch.length > 0) yield batch;
      if (error !== undefined) throw error;
      if (ends) return;
    }
  } catch (thrown) {
    if (ctx.signal.aborted) throw aborted(ctx);
    throw isA2AError(thrown) ? thrown : new A2AError('UNAVAILABLE', 'the stream was cut off', { cause: new CutOff('stream', thrown) });
  }
  if (ctx.signal.aborted) throw aborted(ctx);
}

interface Gathering {
  readonly batch: readonly Logged[];
  readonly ends: boolean;
  /** Comes after the batch: what was sent before it did happen. */
  readonly error?: unknown;
}

function gather(frames: readonly SseEvent[], incoming: Incoming): Gathering {
  const batch: Logged[] = [];
  try {
    for (const frame of frames) {
      if (frame.data === DONE) return { batch, ends: true };
      if (frame.data !== '') take(frame, incoming, batch);
    }
    return { batch, ends: false };
  } catch (error) {
    return { batch, ends: true, error };
  }
}

function take(frame: SseEvent, { reader, unwrap }: Incoming, batch: Logged[]): void {
  const read = reader.read(unwrap(frameJson(frame.data), frame.event));
  if (!read.ok) throw unreadable(read);
  const { value } = read;
  const place = seqFrom(frame.id);
  for (let at = 0; at < value.length; at += 1) {
    const event = value[at] as TaskEvent;
    // Of several events only the last has the frame's place: after it, all of them have been seen.
    batch.push(place !== undefined && at === value.length - 1 ? { seq: place, event } : { event });
  }
}

function frameJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', 'an event of the stream is not JSON', { cause });
  }
}
