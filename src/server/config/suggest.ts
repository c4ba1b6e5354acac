/** The known name that was probably meant: the nearest by letters that have to be changed, if that is few. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = (name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 3))) + 1;
  for (const candidate of known) {
    const distance = distanceOf(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** Levenshtein's distance, row by row. Names are short. */
function distanceOf(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
