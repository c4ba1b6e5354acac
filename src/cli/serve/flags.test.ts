import { describe, expect, it } from 'vitest';
import { SETTINGS } from '#server';
import { optionBlocks } from '../flags/help.ts';
import { parse } from '../flags/parse.ts';
import { readServeFlags, serveFlags } from './flags.ts';

const flagged = SETTINGS.flatMap(({ group, flag }) => (flag === undefined ? [] : [{ group, flag }]));
const names = (flags: readonly { readonly name: string }[]): readonly string[] => flags.map(({ name }) => name);

describe('the flags of parley serve', () => {
  it('are those of the settings and four more, without duplicates', () => {
    const all = [...flagged.map(({ flag }) => flag), 'config', 'json', 'limit', 'stdio'];
    expect(names(serveFlags()).toSorted()).toEqual(all.toSorted());
  });

  it('begin with the common options', () => {
    const [first] = optionBlocks(serveFlags()).split('\n\n');
    expect(first).toMatch(/^Common options:\n/);
    expect([...(first ?? '').matchAll(/^ {2,6}--([a-z0-9-]+)/gm)].map(([, flag]) => flag)).toEqual([
      ...[
        'port',
        'host',
        'data',
        'store',
        'store-lease-ms',
        'blobs',
        'advertise',
        'workers',
        'memory',
        'accept-loss',
        'no-search',
        'log',
        'config',
        'json',
      ],
    ]);
  });

  it('leave out groups that have no effect on a command', () => {
    const group = 'Coding agents and commands';
    const programs = flagged.filter((one) => one.group === group).map(({ flag }) => flag);
    const shown = names(serveFlags([group]));
    expect(programs).toContain('sandbox');
    expect(shown.filter((flag) => programs.includes(flag))).toEqual([]);
    expect(shown).toContain('port');
  });

  it('are read into settings by name', () => {
    const spec = { name: 'try', summary: '', args: [], flags: serveFlags(), examples: [], exits: '' };
    const args = ['echo', '--port', '1', '--no-auth', '--allow-host', 'a', '--allow-host=b', '--limit', 'bodyBytesMax=5', '--json'];
    const { settings, json, stdio, config } = readServeFlags(parse(spec, args));
    expect(Object.fromEntries(settings)).toEqual({
      ...{ agents: ['echo'], port: '1', auth: true, allowedHosts: ['a', 'b'], 'limits.bodyBytesMax': '5' },
    });
    expect([json, stdio, config]).toEqual([true, false, undefined]);
    expect(() => readServeFlags(parse(spec, ['--limit', 'bodyByteMax=5']))).toThrow('did you mean bodyBytesMax?');
    expect(() => readServeFlags(parse(spec, ['--memory', '--data', 'x']))).toThrow('exclude each other');
  });
});
