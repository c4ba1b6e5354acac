import { describe, expect, it } from 'vitest';
import { hoist } from './hoist.ts';
import { argumentsOf, listOf, parse, switchOf, textOf } from './parse.ts';
import type { CommandSpec } from './spec.ts';

const spec: CommandSpec = {
  name: 'try',
  summary: 'tries',
  args: [{ name: 'A' }, { name: 'B', optional: true }],
  flags: [
    { name: 'text', short: 't', kind: 'text', doc: '' },
    { name: 'many', aliases: ['lots'], kind: 'list', doc: '' },
    { name: 'on', short: 'o', kind: 'switch', doc: '' },
    { name: 'loud', short: 'l', kind: 'switch', doc: '' },
    { name: 'kind', kind: 'text', oneOf: ['red', 'blue'], doc: '' },
  ],
  examples: [],
  exits: '',
};

describe('parse', () => {
  it('accepts every spelling of a value', () => {
    for (const words of [['--text', 'x'], ['--text=x'], ['-t', 'x'], ['-tx'], ['-t=x'], ['-olt', 'x']])
      expect(textOf(parse(spec, words), 'text')).toBe('x');
    expect(textOf(parse(spec, ['--text=--x']), 'text')).toBe('--x');
    expect(textOf(parse(spec, ['--text', '-']), 'text')).toBe('-');
    expect(textOf(parse(spec, ['--text', '-5']), 'text')).toBe('-5');
  });

  it('keeps the order of flags and words, and the last value of a text flag', () => {
    const parsed = parse(spec, ['a', '--many', '1', 'b', '--lots=2', '--text', 'x', '--text', 'y']);
    expect(parsed.given.map(({ value }) => value)).toEqual(['a', '1', 'b', '2', 'x', 'y']);
    expect([listOf(parsed, 'many'), textOf(parsed, 'text'), parsed.positionals]).toEqual([['1', '2'], 'y', ['a', 'b']]);
  });

  it('accepts switches that are off or joined', () => {
    expect(switchOf(parse(spec, ['--on']), 'on')).toBe(true);
    expect(switchOf(parse(spec, ['--on', '--on=false']), 'on')).toBe(false);
    expect(switchOf(parse(spec, ['-ol']), 'loud')).toBe(true);
  });

  it('treats everything after -- as words', () => {
    expect(parse(spec, ['--on', '--', '--text', '-x']).positionals).toEqual(['--text', '-x']);
  });

  it.each([
    [['--nope'], 'parley try has no flag --nope'],
    [['-x'], 'parley try has no flag -x'],
    [['--text'], '--text needs a value'],
    [['--text', '--on'], '--text needs a value'],
    [['--on=maybe'], '--on takes no value'],
    [['--kind', 'green'], "--kind can't be green"],
  ])('rejects %s', (words, message) => {
    expect(() => parse(spec, words)).toThrow(message);
  });

  it('checks the number of words', () => {
    expect(argumentsOf(parse(spec, ['a', 'b']))).toEqual(['a', 'b']);
    expect(() => argumentsOf(parse(spec, []))).toThrow('A is missing');
    expect(() => argumentsOf(parse(spec, ['a', 'b', 'c']))).toThrow('no place for c');
  });
});

describe('hoist', () => {
  it('moves global options behind the command', () => {
    expect(hoist(['-o', 'json', '--debug', 'send', 'hi'])).toEqual(['send', '-o', 'json', '--debug', 'hi']);
    expect(hoist(['--agent-card=x', 'task', 'get', 't'])).toEqual(['task', '--agent-card=x', 'get', 't']);
    expect(hoist(['-ax', 'send'])).toEqual(['send', '-ax']);
  });

  it('leaves other words alone', () => {
    for (const words of [['send', '-o', 'json'], ['--version'], ['-h'], []]) expect(hoist(words)).toEqual(words);
  });
});
