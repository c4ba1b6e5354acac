import { describe, expect, it } from 'vitest';
import { isAllowed, nameMatches } from './names.ts';

describe('agent name patterns', () => {
  it.each([
    ['*', 'anything', true],
    ['Order*', 'OrderValidator', true],
    ['Order*', 'orderValidator', false],
    ['?rder', 'Order', true],
    ['?rder', 'rder', false],
    ['[A-C]x', 'Bx', true],
    ['[!A-C]x', 'Bx', false],
    ['[!A-C]x', 'Dx', true],
    ['a[]]b', 'a]b', true],
    ['a[b', 'a[b', true],
    ['a-b', 'a-b', true],
    ['[a-]', '-', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['*a*b*', 'xxbxxa', false],
    ['', '', true],
    ['', 'a', false],
  ])('%s matches %s: %s', (pattern, name, expected) => expect(nameMatches(pattern, name)).toBe(expected));

  it('allow every name by default, and deny wins over allow', () => {
    expect(isAllowed('a', {})).toBe(true);
    expect(isAllowed('a', { allow: ['b'] })).toBe(false);
    expect(isAllowed('ab', { allow: ['a*'], deny: ['*b'] })).toBe(false);
  });

  it('do not backtrack on a pattern with many wildcards', () => {
    expect(nameMatches(`${'*a'.repeat(30)}b`, 'a'.repeat(3000))).toBe(false);
  });
});
