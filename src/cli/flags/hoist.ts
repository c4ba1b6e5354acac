import { GLOBALS } from './globals.ts';

/**
 * Moves global options that stand before the command (`parley -o json send …`) behind it, where every command reads them. Other words
 * keep their position.
 */
export function hoist(args: readonly string[]): readonly string[] {
  const moved: string[] = [];
  let at = 0;
  for (; at < args.length; at += 1) {
    const word = args[at] ?? '';
    const name = /^--([a-z0-9-]+)(=|$)/.exec(word);
    const flag = GLOBALS.find(
      (candidate) =>
        candidate.name === name?.[1] || (candidate.short !== undefined && word.startsWith(`-${candidate.short}`) && !word.startsWith('--')),
    );
    if (flag === undefined) break;
    moved.push(word);
    const isJoined = name === null ? word.length > 2 : name[2] === '=';
    if (flag.kind === 'switch' || isJoined) continue;
    at += 1;
    const value = args[at];
    if (value !== undefined) moved.push(value);
  }
  const rest = args.slice(at);
  return moved.length === 0 ? args : [...rest.slice(0, 1), ...moved, ...rest.slice(1)];
}
