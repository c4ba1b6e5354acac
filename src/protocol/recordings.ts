import type { Registry } from './dialects/create-registry.ts';
import type { Dialect, ReadEnv, RpcId } from './dialects/dialect.ts';
import { distance, leaves, parsedOrText, withoutEnvelope } from './documents.ts';
import type { TaskEvent } from './events.ts';
import { isLast } from './events.ts';
import type { Json } from './json.ts';

/** The recorded frames of a stream, read in one dialect. */
export interface Recording {
  readonly dialect: Dialect;
  readonly events: readonly TaskEvent[];
  /**
   * Distance between the recorded frames and what the dialect writes for the same events. 0 is a
   * perfect match.
   */
  readonly apart: number;
}

interface Readers {
  readonly registry: Registry;
  readonly env: ReadEnv;
  readonly from?: Dialect;
}

/**
 * Reads the frames in every dialect, and returns the reading whose re-encoding is nearest to the
 * recording.
 */
export function bestRecording(documents: readonly unknown[], options: Readers): Recording | undefined {
  const raws = documents.map(withoutEnvelope);
  let best: Recording | undefined;
  for (const dialect of options.from === undefined ? options.registry.all : [options.from]) {
    const recording = readRecording(dialect, raws, options.env);
    if (recording !== undefined && recording.apart < (best?.apart ?? leaves(raws))) best = recording;
  }
  return best;
}

function readRecording(dialect: Dialect, raws: readonly unknown[], env: ReadEnv): Recording | undefined {
  const reader = dialect.openReader(env);
  const events: TaskEvent[] = [];
  let apart = 0;
  for (const raw of raws) {
    const read = reader.read(raw);
    if (!read.ok) return undefined;
    events.push(...read.value);
    apart += read.value.length === 0 ? leaves(raw) : nearest(raw, writeRecording(dialect, read.value, undefined));
  }
  return events.length === 0 ? undefined : { dialect, events, apart };
}

/**
 * A frame that decodes to more events than this can't equal one of them. Comparing all would cost too
 * much.
 */
const COMPARED_MAX = 8;

function nearest(raw: unknown, written: readonly Json[]): number {
  return Math.min(...written.slice(0, COMPARED_MAX).map((frame) => distance(raw, withoutEnvelope(frame))), Number.MAX_SAFE_INTEGER);
}

/**
 * Writes events with one writer, as in a stream. If the last event ends the stream, the dialect's
 * closing frames follow.
 */
export function writeRecording(dialect: Dialect, events: readonly TaskEvent[], requestId: RpcId | undefined): readonly Json[] {
  const writer = dialect.openStream(requestId);
  const frames = writer.frames(events.map((event) => ({ event })));
  const last = events.at(-1);
  const isOver = frames.length === 0 || (events.length > 1 && last !== undefined && isLast(last));
  return [...frames, ...(isOver ? writer.end(undefined) : [])].map((frame) => parsedOrText(String(frame.data)));
}
