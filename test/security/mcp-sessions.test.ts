import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KeyRecord } from '#server';
import { keyAuth } from '#server';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { mcpMount } from '../../src/tools/adapters/mcp.ts';
import { builtIn, startServer } from '../support/server.ts';

/** MCP sessions (specification of 2025): each belongs to one caller with its scopes, and no caller can evict another's. */
const key = (id: string, name: string, ...scopes: readonly string[]): KeyRecord => ({
  id,
  name,
  scopes,
  createdAt: '2026-01-01T00:00:00Z',
});
const KEYS: Readonly<Record<string, KeyRecord>> = {
  'ann-all': key('1', 'ann', 'tasks:*'),
  'ann-reads': key('2', 'ann', 'tasks:read'),
  bob: key('3', 'bob', 'tasks:*'),
};

let node: NodeServer;
beforeAll(async () => {
  const auth = [keyAuth({ find: (secret) => KEYS[secret] })];
  node = await startServer({ agents: [builtIn('echo')], mcp: (agents) => mcpMount(agents), auth, limits: { requestsPerSecondMax: 0 } });
});
afterAll(() => node.close());

async function post(secret: string, body: object, session?: string): Promise<Response> {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'X-API-Key': secret,
    ...(session === undefined ? {} : { 'Mcp-Session-Id': session, 'Mcp-Protocol-Version': '2025-06-18' }),
  };
  return await fetch(`${node.url}/mcp`, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }) });
}

async function opened(secret: string): Promise<string> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } };
  const response = await post(secret, { method: 'initialize', params });
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

const call = { method: 'tools/call', params: { name: 'a2a__echo__echo', arguments: { message: 'hello' } } };

describe('a session over /mcp', () => {
  it('continues for its caller', async () => {
    const session = await opened('ann-all');
    expect(session).toMatch(/^[0-9a-f-]{36}$/);
    const response = await post('ann-all', call, session);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('hello')]);
  });

  it('is unknown to other callers, and to a key of the same caller with fewer scopes', async () => {
    const session = await opened('ann-all');
    for (const secret of ['bob', 'ann-reads']) {
      const response = await post(secret, call, session);
      const unknown = await post(secret, call, crypto.randomUUID());
      expect([response.status, await response.text()]).toEqual([404, await unknown.text()]);
    }
  });

  it('survives another caller who opens sessions without end', async () => {
    const session = await opened('ann-all');
    const first = await opened('bob');
    for (let count = 0; count < 1100; count += 1) await opened('bob');
    const kept = await post('ann-all', call, session);
    await kept.text();
    expect([kept.status, (await post('bob', call, first)).status]).toEqual([200, 404]);
  });
});
