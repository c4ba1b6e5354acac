import { describe, expect, it } from 'vitest';
import { wantsJson } from './errors.ts';
import { oneLine, plain } from './plain-text.ts';
import { createSecrets } from './secrets.ts';

describe('plain', () => {
  it('shows control characters as symbols', () => {
    expect(plain('a\u001b[31mred\u0007\u009b2J\r\nb\tc\u007f')).toBe('a␛[31mred␇\ufffd2J\nb\tc␡');
    expect(plain('right \u202eto left')).not.toContain('\u202e');
    expect(oneLine('two\r\n lines')).toBe('two lines');
  });
});

describe('secrets', () => {
  it('are masked in every spelling', () => {
    const secrets = createSecrets();
    for (const secret of ['s3cr3t/+ value', undefined, 'abc']) secrets.add(secret);
    const said = `s3cr3t/+ value ${encodeURIComponent('s3cr3t/+ value')} ${Buffer.from('s3cr3t/+ value').toString('base64')} abc`;
    expect(secrets.mask(said)).toBe('*** *** *** abc');
  });

  it('are masked longest first, so that no rest of one remains', () => {
    const secrets = createSecrets();
    for (const secret of ['token', 'token-and-more']) secrets.add(secret);
    expect(secrets.mask('token-and-more token')).toBe('*** ***');
  });
});

describe('wantsJson', () => {
  it.each([
    [['send', '-o', 'json'], true],
    [['send', '-ojson'], true],
    [['--output=json'], true],
    [['--output', 'text'], false],
    [['-o', 'json', '-o', 'text'], false],
    [['ask', '--json'], true],
    [['send', '--', '-o', 'json'], false],
    [[], false],
  ])('%j: %s', (args, wanted) => {
    expect(wantsJson(args, {})).toBe(wanted);
  });

  it('reads the environment too, unless a flag overrides it', () => {
    expect(wantsJson([], { A2ACLI_OUTPUT: 'json' })).toBe(true);
    expect(wantsJson(['-o', 'text'], { A2ACLI_OUTPUT: 'json' })).toBe(false);
  });
});
