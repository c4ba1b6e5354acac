import type { Logged, StreamWriter } from '#protocol';
import type { EncodedPieces } from './sse.ts';
import { encodeFrames } from './sse.ts';

/** The last batch and its text, for each writer that many streams share. Thousands of clients that read one task get the same text. */
const written = new WeakMap<StreamWriter, { readonly batch: readonly Logged[]; readonly text: string }>();

export function encodeBatch(writer: StreamWriter, batch: readonly Logged[]): string | EncodedPieces {
  if (writer.isShared !== true) return encodeFrames(writer.frames(batch));
  const known = written.get(writer);
  if (known?.batch === batch) return known.text;
  const text = encodeFrames(writer.frames(batch));
  if (typeof text === 'string') written.set(writer, { batch, text });
  return text;
}
