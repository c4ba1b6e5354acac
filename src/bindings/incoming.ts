import type { CallContext, Logged, StreamReader, TaskEvent } from '#protocol';
import { A2AError, isA2AError } from '#protocol';
import { ChunkJoiner } from './chunk-joiner.ts';
import { unreadable } from './codec.ts';
import { CutOff } from './failures.ts';
import { FrameTemplate } from './frame-template.ts';
import type { LinkResponse } from './link-http.ts';
import { aborted } from './link-http.ts';
import type { LinkOptions } from './link-service.ts';
import { isMediaType } from './media.ts';
import { EVENT_STREAM, readEvents, seqFrom } from './sse.ts';
import type { SseEvent } from './sse-parser.ts';

/** How to read the stream of a response. */
export interface Incoming {
  readonly reader: StreamReader;
  /**
   * Removes the envelope of a frame. Throws the error that the frame reports. `name` is its `event:`
   * field.
   */
  readonly unwrap: (frame: unknown, name: string | undefined) => unknown;
  readonly options: Pick<LinkOptions, 'eventBytesMax' | 'idleMs'>;
  readonly ctx: CallContext;
}

/** 16 MiB. */
const DEFAULT_EVENT_BYTES_MAX = 16_777_216;

/** Some servers send this as the last frame of a stream. */
const DONE = '[DONE]';

/** Whether a response streams events. Error responses do not count. */
export function isEventStream(response: Response): boolean {
  return response.ok && isMediaType(response.headers.get('content-type'), [EVENT_STREAM]);
}

/** The events of a response, in batches as they arrive from the network. Stops the timer of the response: a stream may last. */
export async function* incomingEvents({ response, timer }: LinkResponse, incoming: Incoming): AsyncGenerator<readonly Logged[], void> {
  const { ctx, options } = incoming;
  const { eventBytesMax = DEFAULT_EVENT_BYTES_MAX, idleMs } = options;
  timer.stop();
  if (response.body === null) return;
  const template = new FrameTemplate();
  const joiner = new ChunkJoiner();
  try {
    for await (const frames of readEvents(response.body, eventBytesMax, { signal: ctx.signal, idleMs })) {
      const { batch, ends, error } = gather(frames, incoming, template);
      if (batch.length > 0) yield joiner.join(batch);
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
  /**
   * To be thrown after the batch has been passed on, because the events before the error did happen.
   */
  readonly error?: unknown;
}

/** Reads the frames of one network chunk. Events before an error are kept, because they did happen. */
function gather(frames: readonly SseEvent[], incoming: Incoming, template: FrameTemplate): Gathering {
  const batch: Logged[] = [];
  try {
    const texts = textsOf(frames, template);
    for (let at = 0; at < frames.length; at += 1) {
      const frame = frames[at] as SseEvent;
      const text = texts?.[at];
      if (text !== undefined) batch.push(withSeq(template.event(text), frame));
      else if (frame.data === DONE) return { batch, ends: true };
      else if (frame.data !== '') take(frame, incoming, batch);
    }
    if (texts?.at(-1) === undefined) learn(frames.at(-1), batch.at(-1), { incoming, template });
    return { batch, ends: false };
  } catch (error) {
    return { batch, ends: true, error };
  }
}

/** The texts of the frames that match the template. Undefined if no frame does. */
function textsOf(frames: readonly SseEvent[], template: FrameTemplate): readonly (string | undefined)[] | undefined {
  const encoded: (string | undefined)[] = [];
  const found: string[] = [];
  for (const { data, event } of frames) {
    const each = event === undefined ? template.textJsonIn(data) : undefined;
    encoded.push(each);
    if (each !== undefined) found.push(each);
  }
  if (found.length === 0) return undefined;
  try {
    // Parsing all texts as one list is faster than one by one, and the resulting strings do not keep the whole chunk in memory.
    const texts = JSON.parse(`["${found.join('","')}"]`) as readonly string[];
    let at = 0;
    return found.length === frames.length ? texts : encoded.map((each) => (each === undefined ? undefined : texts[at++]));
  } catch {
    return undefined; // one text is not valid JSON: reading each frame in full finds which
  }
}

function take(frame: SseEvent, incoming: Incoming, batch: Logged[]): void {
  const events = eventsIn(frameJson(frame.data), frame.event, incoming);
  // Of several events only the last gets the frame's position: a client that resumes after it has seen them all.
  for (let at = 0; at < events.length - 1; at += 1) batch.push({ event: events[at] as TaskEvent });
  const last = events.at(-1);
  if (last !== undefined) batch.push(withSeq(last, frame));
}

function eventsIn(body: unknown, name: string | undefined, { reader, unwrap }: Incoming): readonly TaskEvent[] {
  const read = reader.read(unwrap(body, name));
  if (!read.ok) throw unreadable(read);
  return read.value;
}

function withSeq(event: TaskEvent, { id }: SseEvent): Logged {
  const seq = seqFrom(id);
  return seq === undefined ? { event } : { seq, event };
}

interface Learning {
  readonly incoming: Incoming;
  readonly template: FrameTemplate;
}

/** Tries to make a template of the last frame, for dialects in which each frame stands alone. */
function learn(frame: SseEvent | undefined, logged: Logged | undefined, { incoming, template }: Learning): void {
  if (incoming.reader.isPlain !== true || frame === undefined || frame.event !== undefined || frame.data === '') return;
  if (logged === undefined) return;
  template.learn(frame.data, logged.event, (data) => {
    try {
      return eventsIn(JSON.parse(data), undefined, incoming)[0];
    } catch {
      return undefined; // the template had mistaken another member for the text
    }
  });
}

function frameJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', 'an event of the stream is not JSON', { cause });
  }
}
