import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentCard } from '#protocol';
import { CARD } from '../../test/support/card.ts';
import { isOurPort, localAuth, localToken } from './local-token.ts';

it('the token of this machine is for this machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-token-'));
  const env = { PARLEY_AUTH_FOLDER: folder };
  expect(localToken('http://127.0.0.1:41242', env)).toBeUndefined();
  writeFileSync(join(folder, 'token'), `${'t'.repeat(40)}\n`, { mode: 0o600 });
  for (const url of [
    'http://127.0.0.1:41242',
    'http://localhost:1/x',
    'localhost:41242',
    '127.0.0.1',
    'https://[::1]:41242',
    'http://127.1.2.3',
  ])
    expect(localToken(url, env)).toBe('t'.repeat(40));
  for (const url of [
    'https://agents.example.org',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://10.0.0.1',
    'http://0.0.0.0:41242',
  ])
    expect(localToken(url, env)).toBeUndefined();
});

describe('a port of loopback', () => {
  const line = (port: number, uid: number, state = '0A'): string =>
    `   0: 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 4242 1`;

  it('is ours, root’s, or nobody’s that we know of', () => {
    expect(isOurPort(41242, 1000, [line(41242, 1000)])).toBe(true);
    expect(isOurPort(41242, 1000, [line(41242, 0)])).toBe(true);
    expect(isOurPort(41242, 1000, [])).toBe(true);
  });

  it('is another’s: the token stays here', () => {
    expect(isOurPort(41242, 1000, [line(41242, 1001)])).toBe(false);
    expect(isOurPort(41242, 1000, [line(41242, 1000), line(41242, 1001)])).toBe(false);
    expect(isOurPort(41242, 1000, [line(41243, 1001), line(41242, 1001, '01')])).toBe(true);
  });
});

describe('S9: the token of this machine', () => {
  const auth = localAuth('secret');
  const shown = { headers: { Authorization: 'Bearer secret' } };
  const asking: AgentCard = {
    ...CARD,
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: {} } }],
  };

  it('is shown to whoever asks for one, and to nobody else', async () => {
    expect([auth.present(CARD), auth.present(undefined), auth.present(asking)]).toEqual([{}, {}, shown]);
    expect([await auth.refresh?.(), auth.present(undefined), await auth.refresh?.()]).toEqual([true, shown, false]);
  });
});
