/** What a proxy puts before the paths of the node, as `/parley` for `https://example.org/parley/console/`. Empty if there is none. */
const PREFIX: string = /^(.*?)\/console(?:\/|$)/.exec(location.pathname)?.[1] ?? '';

/** The address of the node: a path such as `/api/parley/v1` follows. */
export const NODE: string = `${location.origin}${PREFIX}`;

/** A path of the node with the prefix: `/parley/console/tasks` for `/console/tasks`. */
export function withPrefix(path: string): string {
  return `${PREFIX}${path}`;
}
