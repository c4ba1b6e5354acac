/**
 * Removes slashes at the end. Not `/\/+$/`: that regular expression takes quadratic time on many
 * slashes, and callers choose the text.
 */
export function withoutEndSlashes(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0x2f) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}
