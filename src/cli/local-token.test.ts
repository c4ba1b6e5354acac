import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentCard } from '#protocol';
import { CARD } from '../../test/support/card.ts';
import { noteNode, runningNodes } from '../server/adapters/running-nodes.ts';
import { localAuth, localToken } from './local-token.ts';

function withToken(): { readonly folder: string; readonly env: { readonly PARLEY_AUTH_FOLDER: string } } {
  const folder = mkdtempSync(join(tmpdir(), 'parley-token-'));
  writeFileSync(join(folder, 'token'), `${'t'.repeat(40)}\n`, { mode: 0o600 });
  return { folder, env: { PARLEY_AUTH_FOLDER: folder } };
}

describe('the token of this machine', () => {
  it('is sent to a node of its user on loopback, under any name of loopback', () => {
    const { folder, env } = withToken();
    noteNode(folder, { url: 'http://127.0.0.1:41242', agents: ['demo'] });
    for (const url of ['http://127.0.0.1:41242', 'http://localhost:41242/x', 'localhost:41242', 'https://[::1]:41242'])
      expect(localToken(url, env), url).toBe('t'.repeat(40));
  });

  it('is sent to no port for a node on a socket', () => {
    const { folder, env } = withToken();
    noteNode(folder, { url: 'unix:/run/parley.sock', agents: ['demo'] });
    expect(localToken('http://localhost', env)).toBeUndefined();
  });

  it('is not sent to another port or another machine', () => {
    const { folder, env } = withToken();
    noteNode(folder, { url: 'http://127.0.0.1:41242', agents: ['demo'] });
    for (const url of [
      'http://127.0.0.1:41243',
      'http://localhost',
      'https://agents.example.org:41242',
      'http://localhost.evil.example:41242',
      'http://127.0.0.1.evil.example:41242',
      'http://10.0.0.1:41242',
      'http://0.0.0.0:41242',
      'research',
    ])
      expect(localToken(url, env), url).toBeUndefined();
  });

  it('is not sent after the node has ended or crashed', () => {
    const { folder, env } = withToken();
    const forget = noteNode(folder, { url: 'http://127.0.0.1:41242', agents: ['demo'] });
    forget();
    expect(localToken('http://127.0.0.1:41242', env)).toBeUndefined();
    const dead = { pid: 2 ** 22 + 1, started: 'never', url: 'http://127.0.0.1:41242', agents: [] };
    writeFileSync(join(folder, 'nodes/dead.json'), JSON.stringify(dead));
    const other = { pid: process.pid, started: 'another process had this number', url: 'http://127.0.0.1:41242', agents: [] };
    if (process.platform === 'linux') writeFileSync(join(folder, 'nodes/other.json'), JSON.stringify(other));
    writeFileSync(join(folder, 'nodes/broken.json'), '{');
    expect(runningNodes(folder)).toEqual([]);
    expect(localToken('http://127.0.0.1:41242', env)).toBeUndefined();
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

  it('is sent only to an agent that asks for one', async () => {
    expect([auth.present(CARD), auth.present(undefined), auth.present(asking)]).toEqual([{}, {}, shown]);
    expect([await auth.refresh?.(), auth.present(undefined), await auth.refresh?.()]).toEqual([true, shown, false]);
  });
});
