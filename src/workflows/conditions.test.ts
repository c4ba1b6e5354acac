import { describe, expect, test } from 'vitest';
import type { Json } from '#protocol';
import { holds, parseCondition } from './conditions.ts';
import { fill, lookup } from './templates.ts';

const scope = new Map<string, Json>([
  ['a', { output: { n: 3, text: 'it is "so"', yes: true, no: false, list: [1, 'two'], deep: [{ x: 5 }] } }],
  ['b', { output: null }],
]);

describe('conditions', () => {
  test.each([
    ['{{a.output.n}} == 3', true],
    ['{{a.output.n}} == "3"', true],
    ['{{a.output.n}} > 3', false],
    ['{{a.output.n}} >= 3 and {{a.output.yes}}', true],
    ['{{a.output.no}} or not {{a.output.no}}', true],
    ['!({{a.output.yes}} && {{a.output.no}}) || false', true],
    ['{{a.output.yes}} == true', true],
    ['{{b.output.x}} == null', true],
    ['{{b.output.x}} > 1', false],
    ['"two" in {{a.output.list}}', true],
    ['{{a.output.n}} in [1, 2]', false],
    [`"so" in {{a.output.text}}`, true],
    ["'a' < 'b'", true],
    ['{{a.output.n}} != -3.5', true],
    ['success == "success"', true],
    ['true or true and false', true],
  ])('%s is %s', (condition, outcome) => expect(holds(condition, scope)).toBe(outcome));

  test.each([
    '',
    '==',
    '1 ==',
    '(1',
    '1 1',
    '{{a}} == ; process.exit()',
    '[1, 2',
    `${'('.repeat(100)}1${')'.repeat(100)}`,
    'x'.repeat(3000),
  ])('refuses an invalid condition: %s', (condition) => expect(() => parseCondition(condition, 'node a')).toThrow(/node a/));
});

describe('templates', () => {
  test('a value that is one template keeps its type; inside text it becomes text', () => {
    expect(fill({ n: '{{a.output.n}}', s: 'n is {{ a.output.n }}, {{a.output.list}}', none: '{{b.output.x}}' }, scope)).toEqual({
      n: 3,
      s: 'n is 3, [1,"two"]',
      none: null,
    });
  });
  test('coalesce and concat', () => {
    expect(fill({ coalesce: ['{{b.output.x}}', '{{a.output.n}}'] }, scope)).toBe(3);
    expect(fill({ concat: ['n', '{{a.output.n}}', '{{b.output.x}}'] }, scope)).toBe('n3');
  });
  test('paths read list items, and never inherited properties', () => {
    expect(lookup('a.output.deep[0].x', scope)).toBe(5);
    expect(lookup('a.output.constructor', scope)).toBe(null);
    expect(lookup('a.output.__proto__.x', scope)).toBe(null);
  });
  test('an unknown root name is an error', () => expect(() => lookup('c.output', scope)).toThrow('there is no c'));
});
