import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { localToken } from './local-token.ts';

it('the token of this machine is for this machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-token-'));
  const env = { PARLEY_AUTH_FOLDER: folder };
  expect(localToken('http://127.0.0.1:41242', env)).toBeUndefined();
  writeFileSync(join(folder, 'token'), `${'t'.repeat(40)}\n`, { mode: 0o600 });
  for (const url of ['http://127.0.0.1:41242', 'http://localhost:1/x', 'https://[::1]:41242', 'http://127.1.2.3'])
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
