import { describe, expect, it } from 'vitest';
import { toArray } from './text.ts';

describe('toArray', () => {
  it('writes numbers, truth values and nulls as they are', () => {
    expect(toArray([])).toBe('{}');
    expect(toArray([1, null, undefined, -2, true])).toBe('{1,NULL,NULL,-2,true}');
    expect(toArray([null, undefined])).toBe('{NULL,NULL}');
  });

  it('writes texts and nulls in the binary format of the server', () => {
    // One dimension, with nulls, of type 25, 3 elements from 1 on. As `array_send` of Postgres 15 writes ARRAY['a"ü', NULL, ''].
    expect(toArray(['a"ü', null, ''])).toEqual(
      Buffer.from('00000001 00000001 00000019 00000003 00000001 00000004 6122c3bc ffffffff 00000000'.replaceAll(' ', ''), 'hex'),
    );
  });

  it('says that no element is null', () => {
    expect(toArray(['x'])).toEqual(Buffer.from('00000001 00000000 00000019 00000001 00000001 00000001 78'.replaceAll(' ', ''), 'hex'));
  });
});
