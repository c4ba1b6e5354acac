import type { Line, SplitterOptions } from '#protocol';
import { lineSplitter } from '#protocol';
import { ansiStripper } from './ansi.ts';

/** Complete lines. The stream is read no faster than they are consumed. */
export async function* linesOf(stdout: AsyncIterable<Uint8Array>, options: SplitterOptions = {}): AsyncGenerator<readonly Line[]> {
  const splitter = lineSplitter(options);
  for await (const chunk of chunksOf(stdout)) {
    const lines = splitter.push(chunk);
    if (lines.length > 0) yield lines;
  }
  const rest = splitter.end();
  if (rest.length > 0) yield rest;
}

/** Text in pieces: characters are complete, and terminal escapes are removed. */
export async function* textOf(stdout: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const strip = ansiStripper();
  for await (const chunk of chunksOf(stdout)) {
    const text = strip(decoder.decode(chunk, { stream: true }));
    if (text !== '') yield text;
  }
  const rest = strip(decoder.decode());
  if (rest !== '') yield rest;
}

/** A pipe that breaks, or closes because the program was killed, counts as the end of the output. */
async function* chunksOf(stdout: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stdout;
  } catch {
    // See above.
  }
}
