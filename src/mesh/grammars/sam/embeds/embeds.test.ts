import { describe, expect, it } from 'vitest';
import { resolveEmbeds } from './embeds.ts';

describe('embeds of Solace Agent Mesh', () => {
  it.each([
    ['one «math:1+1» two', 'one 2 two'],
    ['«math:10/4»', '2.5'],
    ['«math:10/5»', '2.0'],
    ['«math:2**10 - 3*(4+1)»', '1009'],
    ['«math:-7//2» «math:-7%3»', '-4 2'],
    ['«math:2/3 | .2f»', '0.67'],
    ['«math:1234567.891 | ,.1f»', '1,234,567.9'],
    ['«math:max(1, 2) + sqrt(16)»', '6.0'],
    ['«math:round(2.567, 1)»', '2.6'],
    ['«math:pi | .3f»', '3.142'],
    ['done «status_update:busy now»«artifact_return:a.json:0»', 'done '],
    ['«result:artifact=a.json:0 status=success»', ''],
    ['«datetime:%Y-%m-%d» «datetime:date»', '2026-03-04 2026-03-04'],
    ['«artifact_content:a.txt >>> format:text»', '«artifact_content:a.txt >>> format:text»'],
    ['no embeds, « alone', 'no embeds, « alone'],
  ])('%s becomes %s', (text, expected) => expect(resolveEmbeds(text, new Date(2026, 2, 4))).toBe(expected));

  it.each(['«math:import os»', '«math:1+»', '«math:1/0»', '«math:constructor(1)»', `«math:${'('.repeat(100)}1»`])(
    'an expression that is not arithmetic is an error in its place: %s',
    (text) => expect(resolveEmbeds(text)).toMatch(/^\[Error: Math evaluation error: /),
  );

  it('a uuid is a new one each time', () => {
    expect(resolveEmbeds('«uuid:»')).toMatch(/^[0-9a-f-]{36}$/);
    expect(resolveEmbeds('«uuid:»')).not.toBe(resolveEmbeds('«uuid:»'));
  });
});
