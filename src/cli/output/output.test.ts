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
    const secret = 's3cr3t/+ "vàlue';
    const secrets = createSecrets();
    for (const one of [secret, undefined, '']) secrets.add(one);
    const spellings = [
      secret,
      encodeURIComponent(secret),
      encodeURIComponent(secret).toLowerCase(),
      new URLSearchParams({ key: secret }).toString().slice('key='.length),
      new URL(`http://h/?key=${secret}`).search.slice('?key='.length),
      JSON.stringify(secret).slice(1, -1),
      JSON.stringify(JSON.stringify(secret)).slice(3, -3),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('base64url'),
      Buffer.from(secret).toString('hex'),
    ];
    for (const spelling of spellings) expect(secrets.mask(`<${spelling}>`), spelling).toBe('<***>');
    for (const user of ['u', 'me', 'you']) {
      const basic = Buffer.from(`${user}:${secret}`).toString('base64');
      expect(secrets.mask(basic), basic).toContain('***');
    }
  });

  it('are masked longest first, so that no rest of one remains', () => {
    const secrets = createSecrets();
    for (const secret of ['token', 'token-and-more']) secrets.add(secret);
    expect(secrets.mask('token-and-more token')).toBe('*** ***');
  });

  it('are masked only as whole words if they are short', () => {
    const secrets = createSecrets();
    for (const secret of ['abc', '1', '.+']) secrets.add(secret);
    expect(secrets.mask('key=abc abcd {"id":1} 11 .+')).toBe('key=*** abcd {"id":***} 11 ***');
  });

  it('are read from the answer of an authorization server, and from nothing else', () => {
    const secrets = createSecrets();
    secrets.addFromAnswer('{"access_token":"at-12345","id_token":"it-12345","token_type":"Bearer","scope":"openid","x":"other-12345"}');
    secrets.addFromAnswer('{"device_code":"dc-12345","user_code":"ABCD-EFGH"}');
    secrets.addFromAnswer('{"token_endpoint":"https://id.example/token","issuer":"https://id.example"}');
    secrets.addFromAnswer('["at"]');
    const said = 'at-12345 it-12345 other-12345 dc-12345 Bearer openid ABCD-EFGH https://id.example/token';
    expect(secrets.mask(said)).toBe('*** *** *** *** Bearer openid ABCD-EFGH https://id.example/token');
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
