import type { Json, JsonObject } from '#protocol';
import type { Act, Asked } from './model.ts';

/** One vendor's API: reads a request, and writes the response as one body or as a stream. */
export interface Provider {
  readonly name: string;
  matches(path: string): boolean;
  read(body: JsonObject): Asked;
  isStreamed(body: JsonObject, path: string): boolean;
  whole(act: Act, id: string): Json;
  frames(act: Act, id: string): AsyncIterable<string>;
}

/** The text of the answer, in the chunks in which it is streamed. */
export async function* pieces(act: Act): AsyncIterable<string> {
  if (act.kind === 'say') yield* act.text.match(/\S+\s*|\s+/g) ?? [];
  if (act.kind !== 'mumble') return;
  for (let word = 1; word <= act.words; word += 1) {
    await new Promise((resolve) => setTimeout(resolve, act.everyMs));
    yield `word ${word} `;
  }
}

export function said(act: Act): string {
  if (act.kind === 'say') return act.text;
  return act.kind === 'mumble' ? Array.from({ length: act.words }, (_, index) => `word ${index + 1} `).join('') : '';
}

export function frame(data: Json, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}
