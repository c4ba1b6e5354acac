import { describe, expect, it } from 'vitest';
import { KEYS } from '#server';
import { flagHelp } from './serve-flags.ts';
import { FLAG_GROUPS, groupOf } from './serve-groups.ts';

const flagged = KEYS.flatMap(({ name, flag }) => (flag === undefined ? [] : [{ name, flag }]));
const flagsIn = (text: string): readonly string[] => [...text.matchAll(/^ {2}--([a-z0-9-]+)/gm)].map(([, flag]) => flag as string);

describe('the help of parley serve', () => {
  it('has every flag once, in groups of which none is empty', () => {
    const all = [...flagged.map(({ flag }) => flag), 'config', 'json', 'limit', 'stdio'];
    expect(flagsIn(flagHelp()).toSorted()).toEqual(all.toSorted());
    expect(
      flagHelp()
        .split('\n\n')
        .map((group) => group.split(':\n')[0]),
    ).toEqual(FLAG_GROUPS);
  });

  it('begins with what most need, and with nothing that somebody forgot to sort', () => {
    expect(flagsIn(flagHelp().split('\n\n')[0] ?? '')).toEqual(['port', 'host', 'data', 'memory', 'log', 'config', 'json']);
  });

  it('leaves out what a command has no use for', () => {
    const runs = flagged.filter(({ name }) => groupOf(name) === 'Coding agents and commands').map(({ flag }) => flag);
    const shown = flagsIn(flagHelp(['Coding agents and commands']));
    expect(runs).toContain('sandbox');
    expect(shown.filter((flag) => runs.includes(flag))).toEqual([]);
    expect(shown).toContain('port');
  });
});
