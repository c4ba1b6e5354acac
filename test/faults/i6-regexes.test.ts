import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';
import { describe, expect, it } from 'vitest';
import { slowText } from '../support/regex/pumps.ts';

/** docs/faults.md I6: the steps of every regular expression of ours grow linearly with the length of the text. */
const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));

interface Found {
  readonly where: string;
  readonly pattern: string;
  readonly flags: string;
}

function regexesIn(name: string): readonly Found[] {
  const found: Found[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, pattern, flags } = node as { type?: string; pattern?: string; flags?: string };
    if (type === 'RegExpLiteral' && pattern !== undefined) found.push({ where: name, pattern, flags: flags ?? '' });
    for (const value of Object.values(node)) walk(value);
  };
  walk(parseSync(readFileSync(`${SOURCES}${name}`, 'utf8'), { syntax: 'typescript', tsx: name.endsWith('x'), target: 'es2024' }));
  return found;
}

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.test)\.tsx?$/.test(name));
const regexes = new Map(files.flatMap(regexesIn).map((found) => [`/${found.pattern}/${found.flags}`, found]));

describe('I6: regular expressions', () => {
  it('are found', () => expect(regexes.size).toBeGreaterThan(250));

  it('take linear time on every text', () => {
    const slow = [...regexes].flatMap(([regex, { where, pattern, flags }]) => {
      const text = slowText(pattern, flags);
      return text === undefined ? [] : [`${where} ${regex} is slow on ${JSON.stringify(text)}`];
    });
    expect(slow).toEqual([]);
  });
});

describe('the check of regular expressions', () => {
  it.each([
    ['[\\d.]+$', ''],
    ['^-+|-+$', 'g'],
    ['^a*a*!$', ''],
    ['^(a*)*b$', ''],
    ['^(?:a|a)*b$', ''],
    ['^(?:a+b?)*c$', ''],
    ['^(\\w+\\s?)*$', ''],
    ['x(?=[ax]*!)', ''],
    ['(?:^|\\n)\\s*x', ''],
    ['".*"\\s*:', ''],
    ['^([a-z0-9]|[a-z]-)*(?:[a-z0-9-]*\\.)+$', 'i'],
    ['^(a*)\\1*b$', ''],
  ])('finds that /%s/%s is slow', (pattern, flags) => {
    const { prefix, pump, suffix } = slowText(pattern, flags) ?? expect.fail('not found');
    expect(new RegExp(pattern, flags).test(prefix + pump + suffix)).toBeTypeOf('boolean');
  });

  it.each([
    ['^\\d+$', ''],
    ['\\s+', 'g'],
    ['^(?:[^"\\\\]|\\\\.)*$', ''],
    ['^[a-z]+(?:\\.[a-z]+)*$', 'i'],
    ['\\{\\{([^{}]+)\\}\\}', 'g'],
    ['(?<=://)a', ''],
    ['^(["\'])(.*)\\1$', ''],
    ['a{1,64}$', ''],
  ])('finds that /%s/%s is linear', (pattern, flags) => expect(slowText(pattern, flags)).toBeUndefined());
});
