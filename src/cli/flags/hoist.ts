import { GLOBALS } from './globals.ts';

/**
 * Global options may stand before the command: `parley -o json send …`. They are moved behind it, where every command reads them.
 * Whatever is no global option stays where it is.
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
