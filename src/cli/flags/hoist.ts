import { GLOBALS } from './globals.ts';

/**
 * Moves global options that stand before the command (`parley -o json send …`) behind it, where every command reads them. Other words
 * keep their position.
 */
export function hoist(args: readonly string[]): readonly string[] {
  const at = commandAt(args);
  if (at === 0 || at === args.length) return args;
  return [...args.slice(at, at + 1), ...args.slice(0, at), ...args.slice(at + 1)];
}

/** Where the first word stands that is neither a global option nor the value of one: the command. The length, if there is none. */
export function commandAt(args: readonly string[]): number {
  let at = 0;
  while (at < args.length) {
    const width = optionWidth(args[at] ?? '');
    if (width === 0) return at;
    at += width;
  }
  return args.length;
}

/** How many words a global option takes up, with its value. 0 for every other word. */
function optionWidth(word: string): 0 | 1 | 2 {
  if (word === '--json') return 1;
  const [, name, joined] = /^--([a-z0-9-]+)(=|$)/.exec(word) ?? [];
  const flag = GLOBALS.find(
    ({ name: known, aliases, short }) =>
      known === name ||
      (name !== undefined && aliases?.includes(name) === true) ||
      (short !== undefined && /^-[^-]/.test(word) && word[1] === short),
  );
  if (flag === undefined) return 0;
  const isJoined = name === undefined ? word.length > 2 : joined === '=';
  return flag.kind === 'switch' || isJoined ? 1 : 2;
}
