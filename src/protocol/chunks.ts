import { equal } from './differences.ts';
import type { Part } from './parts.ts';

/** A text part with nothing but its text: no metadata, no file name, no media type. */
export function isPlainText(part: Part): part is Part & { readonly text: string } {
  return part.text !== undefined && part.metadata === undefined && part.filename === undefined && part.mediaType === undefined;
}

/**
 * Appends the parts of a chunk to an artifact's parts, in place. Plain text is joined to plain text
 * before it, so that an answer that is streamed word by word becomes one text part. Some clients read
 * only the first part, or put a line break between parts.
 */
export function appendParts(parts: Part[], chunk: readonly Part[]): Part[] {
  for (let at = 0; at < chunk.length; at += 1) {
    const part = chunk[at];
    if (part === undefined) continue;
    const last = at === 0 ? parts.at(-1) : undefined;
    if (last !== undefined && isPlainText(last) && isPlainText(part)) parts[parts.length - 1] = { text: last.text + part.text };
    else parts.push(part);
  }
  return parts;
}

/**
 * The parts that were appended to an artifact since `before`, also when adjacent texts were joined in
 * between. Undefined if the artifact was replaced.
 */
export function addedParts(before: readonly Part[], now: readonly Part[]): readonly Part[] | undefined {
  if (before.length <= now.length && before.every((part, at) => equal(part, now[at]))) return now.slice(before.length);
  const [was, is] = [joined(before), joined(now)];
  const last = was.at(-1);
  const grown = is[was.length - 1];
  if (last === undefined || grown === undefined || !was.slice(0, -1).every((part, at) => equal(part, is[at]))) return undefined;
  if (equal(last, grown)) return is.slice(was.length);
  if (!isPlainText(last) || !isPlainText(grown) || !grown.text.startsWith(last.text)) return undefined;
  return [{ text: grown.text.slice(last.text.length) }, ...is.slice(was.length)];
}

/** Joins plain texts that follow each other. */
function joined(parts: readonly Part[]): readonly Part[] {
  const out: Part[] = [];
  let texts: string[] = [];
  const close = (): void => {
    if (texts.length > 0) out.push({ text: texts.join('') });
    texts = [];
  };
  for (const part of parts) {
    if (isPlainText(part)) texts.push(part.text);
    else {
      close();
      out.push(part);
    }
  }
  close();
  return out;
}
