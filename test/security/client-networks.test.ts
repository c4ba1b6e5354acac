import { afterEach, describe, expect, it } from 'vitest';
import type { NodeServer, ServeOptions } from '../../src/server/adapters/node.ts';
import { keysOf } from '../support/key-ring.ts';
import { startServer } from '../support/server.ts';

const servers: NodeServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function statusesFrom(options: ServeOptions, path: string): Promise<readonly number[]> {
  const server = await startServer({ auth: [keysOf([{}]).auth], trustedProxies: ['127.0.0.1'], ...options });
  servers.push(server);
  const addresses = ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:ffff::3', '2001:db8:1:3::1'];
  const statuses: number[] = [];
  for (const address of addresses) {
    const headers = { 'X-Forwarded-For': address, Authorization: 'Bearer wrong' };
    statuses.push((await fetch(`${server.url}${path}`, { headers })).status);
  }
  return statuses;
}

describe('a client with many IPv6 addresses', () => {
  it('has one limit on public routes', async () => {
    const limits = { publicRequestsPerSecondMax: 0.001, publicRequestsBurstMax: 2 };
    expect(await statusesFrom({ limits }, '/.well-known/agent-card.json')).toEqual([200, 200, 429, 200]);
  });

  it('has one limit of invalid credentials', async () => {
    const limits = { requestsPerSecondMax: 0.001, requestsBurstMax: 2 };
    expect(await statusesFrom({ limits }, '/tasks')).toEqual([401, 401, 429, 401]);
  });
});
