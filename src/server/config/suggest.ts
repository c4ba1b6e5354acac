/**
 * The known name that was probably meant: the one with the smallest edit distance, if that is small.
 */
export function suggest(name: string, known: readonly string[]): string | undefined {
  const word = bare(name);
  // At most one wrong letter in three, and at least one right letter: otherwise the names have nothing in common.
  let least = Math.min(word.length - 1, Math.max(1, Math.floor(word.length / 3))) + 1;
  let best: string | undefined;
  for (const candidate of known) {
    const distance = distanceOf(word, bare(candidate));
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** The name of a flag without its dashes. */
function bare(name: string): string {
  return name.toLowerCase().replace(/^-+/, '');
}

/**
 * Damerau-Levenshtein distance: inserted, removed, changed and swapped letters each count 1. Names are
 * short, so the quadratic cost does not matter.
 */
function distanceOf(left: string, right: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      const swapped = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1] ? (before[j - 2] ?? Infinity) + 1 : Infinity;
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
