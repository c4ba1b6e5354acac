import type { LogEntry } from '../../ports.ts';

/** Merges words and chunks, which are stored apart, by sequence number. */
export function inOrder(words: readonly LogEntry[], chunks: readonly LogEntry[]): readonly LogEntry[] {
  if (words.length === 0 || chunks.length === 0) return words.length === 0 ? chunks : words;
  const out: LogEntry[] = [];
  let at = 0;
  for (const word of words) {
    for (let chunk = chunks[at]; chunk !== undefined && chunk.seq < word.seq; chunk = chunks[at]) {
      out.push(chunk);
      at += 1;
    }
    out.push(word);
  }
  for (; at < chunks.length; at += 1) {
    const chunk = chunks[at];
    if (chunk !== undefined) out.push(chunk);
  }
  return out;
}
