import { ansiStripper } from './ansi.ts';
import type { Line, SplitterOptions } from './lines.ts';
import { lineSplitter } from './lines.ts';

/** Whole lines, as they come. The stream is read no faster than they are taken. */
export async function* linesOf(stdout: AsyncIterable<Uint8Array>, options: SplitterOptions = {}): AsyncGenerator<readonly Line[]> {
  const splitter = lineSplitter(options);
  for await (const chunk of chunksOf(stdout)) {
    const lines = splitter.push(chunk);
    if (lines.length > 0) yield lines;
  }
  const rest = splitter.end();
  if (rest.length > 0) yield rest;
}

/** Text in pieces as they come: characters are whole, terminal escapes are taken out. */
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

/** A pipe that breaks, or is closed because the program was ended, has said all it had to say. */
async function* chunksOf(stdout: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stdout;
  } catch {
    // See above.
  }
}
