/** The lines of one of two texts. */
export type Side = readonly { readonly text: string; readonly isOwn: boolean }[];

const LINES_MAX = 2000;

/** The lines of two texts. A line that the other text does not have, in this order, is the text's own. */
export function linesOf(one: string, other: string): readonly [Side, Side] {
  const [left, right] = [one.split('\n').slice(0, LINES_MAX), other.split('\n').slice(0, LINES_MAX)];
  const width = right.length + 1;
  // The length of the longest common subsequence of the rest of both, for every pair of lines.
  const common = new Uint16Array((left.length + 1) * width);
  for (let at = left.length - 1; at >= 0; at -= 1) {
    for (let to = right.length - 1; to >= 0; to -= 1) {
      const cell = at * width + to;
      const next = common[cell + width + 1] ?? 0;
      common[cell] = left[at] === right[to] ? next + 1 : Math.max(common[cell + width] ?? 0, common[cell + 1] ?? 0);
    }
  }
  const [mine, theirs]: [boolean[], boolean[]] = [left.map(() => true), right.map(() => true)];
  for (let at = 0, to = 0; at < left.length && to < right.length; ) {
    if (left[at] === right[to]) {
      mine[at] = false;
      theirs[to] = false;
      at += 1;
      to += 1;
    } else if ((common[(at + 1) * width + to] ?? 0) >= (common[at * width + to + 1] ?? 0)) at += 1;
    else to += 1;
  }
  const side = (lines: readonly string[], own: readonly boolean[]): Side =>
    lines.map((text, at) => ({ text, isOwn: other !== '' && one !== '' && own[at] === true }));
  return [side(left, mine), side(right, theirs)];
}

/** The paths at which two JSON values differ, as the tree of JSON names them. */
export function differingPaths(one: unknown, other: unknown, path = ''): readonly string[] {
  if (isBranch(one) && isBranch(other) && Array.isArray(one) === Array.isArray(other)) {
    const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    const below = (key: string): string => (Array.isArray(one) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
    return keys.flatMap((key) => differingPaths(one[key], other[key], below(key)));
  }
  return one === other ? [] : [path];
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
