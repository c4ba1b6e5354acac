import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';
import { describe, expect, it } from 'vitest';
import { expectFigure } from '../support/figures.ts';

/**
 * faults.md I6: every regular expression of ours, against long runs of whatever it likes. One that backtracks more than linearly
 * takes seconds for these, and milliseconds otherwise.
 */
const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const LENGTH = 20_000;
const MS_MAX = 50;
const PIECES = [
  'a',
  'A',
  '0',
  '_',
  '-',
  '.',
  ':',
  '/',
  ' ',
  '\t',
  '"',
  '\\',
  '%',
  '=',
  ',',
  ';',
  '[',
  '{',
  '<',
  '\n',
  '\r\n',
  'a.',
  'a-',
  '0:',
  'a/',
  'ab ',
  '%20',
  '\u00e9',
];
const TAILS = ['', '!', '\n'];
const TEXTS = PIECES.flatMap((piece) => TAILS.map((tail) => ({ piece, tail, text: piece.repeat(LENGTH / piece.length) + tail })));

interface Found {
  readonly where: string;
  readonly pattern: string;
  readonly flags: string;
}

function regexesIn(file: string): readonly Found[] {
  const found: Found[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, pattern, flags } = node as { type?: string; pattern?: string; flags?: string };
    if (type === 'RegExpLiteral' && pattern !== undefined) found.push({ where: file.slice(SOURCES.length), pattern, flags: flags ?? '' });
    for (const value of Object.values(node)) walk(value);
  };
  walk(parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript', target: 'es2024' }));
  return found;
}

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
);
const everyone = files.flatMap((name) => regexesIn(`${SOURCES}${name}`));
const regexes = [...new Map(everyone.map((found) => [`/${found.pattern}/${found.flags}`, found])).values()];

/** What stands in it literally may have to come first, before the part that can be pumped. */
function prefixesOf({ pattern }: Found): readonly string[] {
  const literal = /^\^?((?:\\.|[\w :/"<=,-])+)/.exec(pattern)?.[1]?.replaceAll('\\', '') ?? '';
  return literal === '' ? [''] : ['', literal];
}

/** What seems slow is tried again: on a busy machine anything can take long once. */
function taken(regex: RegExp, text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 4 && least > MS_MAX; attempt += 1) {
    const began = performance.now();
    regex.test(text);
    least = Math.min(least, performance.now() - began);
  }
  return least;
}

function slowest(found: Found): { readonly ms: number; readonly text: string } {
  const regex = new RegExp(found.pattern, found.flags.replace(/[gy]/g, ''));
  let worst = { ms: 0, text: '' };
  for (const prefix of prefixesOf(found)) {
    for (const { piece, tail, text } of TEXTS) {
      const ms = taken(regex, prefix + text);
      if (ms > worst.ms) worst = { ms, text: `${prefix}(${JSON.stringify(piece)} × ${LENGTH / piece.length})${JSON.stringify(tail)}` };
    }
  }
  return worst;
}

describe('I6: regular expressions', () => {
  it('are found', () => expect(regexes.length).toBeGreaterThan(40));

  it('none of them blows up', { timeout: 240_000 }, () => {
    const slow = regexes.flatMap((found) => {
      const { ms, text } = slowest(found);
      return ms > MS_MAX ? [`${found.where} /${found.pattern}/: ${ms.toFixed(0)} ms for ${text}`] : [];
    });
    if (slow.length > 0) process.stdout.write(`slow regular expressions:\n${slow.join('\n')}\n`);
    expectFigure(slow.length, { below: 1 });
  });

  it('the control does', () => {
    expectFigure(slowest({ where: '', pattern: '^a*a*!$', flags: '' }).ms, { above: MS_MAX });
  });
});
