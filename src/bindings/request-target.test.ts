import { describe, expect, it } from 'vitest';
import { pathBelow } from './request-target.ts';

describe('pathBelow', () => {
  it.each([
    ['/agents/echo/a2a/', '/agents/echo', '/a2a'],
    ['/agents/echo', '/agents/echo', '/'],
    ['/agents/echoes', '/agents/echo', '/agents/echoes'],
    ['///', '', '/'],
    ['', '', '/'],
  ])('of %s below %s is %s', (path, base, below) => expect(pathBelow(path, base)).toBe(below));

  it('takes linear time on many slashes', () => {
    const path = `${'/'.repeat(100_000)}x`;
    expect(pathBelow(path, '')).toBe(path);
  });
});
