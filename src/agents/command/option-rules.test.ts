import { describe, expect, it } from 'vitest';
import { OPTION_RULES, withoutInjectedOptions } from './option-rules.ts';

const EVIL = '--output=file';
const fill = (written: readonly string[], message = EVIL): readonly string[] | undefined =>
  withoutInjectedOptions({ written, filled: written.map((argument) => argument.replaceAll(/\{prompt\}|\{contextId\}/g, () => message)) });

describe('a message in an argument', () => {
  it('stays as it is if it does not begin with a dash', () => {
    expect(fill(['anything', '{prompt}'], 'a --b')).toEqual(['anything', 'a --b']);
  });

  it.each([...OPTION_RULES].filter(([, rule]) => rule === 'double-dash').map(([name]) => name))('comes after -- for %s', (name) => {
    expect(fill([name, '--x=y', '{prompt}'])).toEqual([name, '--x=y', '--', EVIL]);
    expect(fill([`/usr/bin/${name}`, '{prompt}', 'more'])).toEqual([`/usr/bin/${name}`, '--', EVIL, 'more']);
  });

  it('is refused if the operator’s own options follow it', () => {
    expect(fill(['sort', '{prompt}', '-r'])).toBeUndefined();
  });

  it('is refused after an option that could take the -- for its value', () => {
    expect(fill(['grep', '-e', '{prompt}', 'notes.txt'])).toBeUndefined();
    expect(fill(['date', '--date', '{prompt}'])).toBeUndefined();
    expect(fill(['jq', '--arg', 'q', '{prompt}', '.'])).toBeUndefined();
    expect(fill(['head', '-n', '5', '{prompt}'])).toEqual(['head', '-n', '5', '--', EVIL]);
  });

  it.each(['env', 'npx', '/usr/bin/timeout', 'docker', 'npm.cmd'])(
    'is refused for %s, whose -- is not for the program that it runs',
    (name) => {
      expect(fill([name, '--', 'sort', '{prompt}'])).toBeUndefined();
      expect(fill([name, 'run', 'sort', '--', '{prompt}'])).toBeUndefined();
    },
  );

  it('is refused for a program of which nothing is known, unless the operator wrote --', () => {
    expect(fill(['./deploy.sh', '{prompt}'])).toBeUndefined();
    expect(fill(['node', 'ask.mjs', '{prompt}'])).toBeUndefined();
    expect(fill(['node', 'ask.mjs', '--', '{prompt}'])).toEqual(['node', 'ask.mjs', '--', EVIL]);
  });

  it('is safe as a part of an argument that the operator began', () => {
    expect(fill(['./deploy.sh', '--message={prompt}', 'x{prompt}'])).toEqual(['./deploy.sh', `--message=${EVIL}`, `x${EVIL}`]);
  });

  it('belongs to a script of the operator, never to the shell', () => {
    expect(fill(['sh', '-c', 'wc -c <<< "$1"', 'x', '{prompt}'])).toEqual(['sh', '-c', 'wc -c <<< "$1"', 'x', EVIL]);
    expect(fill(['sh', '-c', '{prompt}'])).toBeUndefined();
    expect(fill(['bash', 'script.sh', '{prompt}'])).toBeUndefined();
  });

  it('is no option of printf after the format', () => {
    expect(fill(['printf', '%s', '{prompt}'])).toEqual(['printf', '%s', EVIL]);
    expect(fill(['printf', '{prompt}'])).toBeUndefined();
  });

  it('includes the context’s id, which the caller chooses too', () => {
    expect(fill(['./x', '{contextId}'])).toBeUndefined();
  });
});
