import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#server';
import type { NodeServer, ServeOptions } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { keysOf } from '../support/key-ring.ts';
import { opened, startServer } from '../support/server.ts';

/** docs/faults.md, H17. */
const servers: NodeServer[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await server.close();
});

const keys = keysOf([{ scopes: ['admin', 'tasks:*'] }]);
const ADMIN = { Authorization: `Bearer ${keys.key(0)}` };

async function started(options: ServeOptions): Promise<NodeServer> {
  const server = await startServer({ auth: [keys.auth], ...options });
  servers.push(server);
  return server;
}

/** Opens idle connections and returns those that are still open when the server has seen all of them. */
async function idle({ port }: NodeServer, count: number): Promise<readonly Socket[]> {
  const all = await Promise.all(Array.from({ length: count }, () => opened(port)));
  for (const socket of all) socket.resume();
  sockets.push(...all);
  return all;
}

const open = (all: readonly Socket[]): number => all.filter((socket) => !socket.closed && !socket.destroyed && socket.readable).length;

describe('H17: many connections', () => {
  it('of one address are refused beyond its limit, and accepted again when some are closed', async () => {
    const server = await started({ limitLoopback: true, limits: { addressConnectionsMax: 10 } });
    const all = await idle(server, 25);
    await eventually(() => open(all) === 10);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
    for (const socket of all) socket.destroy();
    await eventually(async () => (await fetch(`${server.url}/healthz`)).ok);
  });

  it('of loopback have no limit by default', async () => {
    const server = await started({ limits: { addressConnectionsMax: 2 } });
    const all = await idle(server, 20);
    expect((await fetch(`${server.url}/healthz`)).ok).toBe(true);
    expect(open(all)).toBe(20);
  });

  it('leave some for operators', async () => {
    const limits = { connectionsMax: 40, addressConnectionsMax: 40, reservedConnections: 4 };
    const server = await started({ limitLoopback: true, limits });
    const all = await idle(server, 36);
    await eventually(() => open(all) === 36);
    const refused = await fetch(`${server.url}/.well-known/agent-card.json`, { headers: { Connection: 'close' } });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    const admin = await fetch(`${server.url}/api/parley/v1/tasks`, { headers: { ...ADMIN, Connection: 'close' } });
    expect(admin.status).toBe(200);
    const more = await idle(server, 6);
    await eventually(() => open(more) <= 2); // the last two are for this machine
  });

  it('of a trusted proxy are counted by the forwarded address', async () => {
    const server = await started({ trustedProxies: ['127.0.0.1'], limits: { addressConnectionsMax: 2 } });
    const stream = (address: string): Promise<Response> =>
      fetch(`${server.url}/message:stream`, {
        method: 'POST',
        headers: { ...ADMIN, 'Content-Type': 'application/json', 'X-Forwarded-For': address },
        body: JSON.stringify({ message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'sleep=20000' }] } }),
      });
    const streams = await Promise.all([stream('203.0.113.1'), stream('203.0.113.1')]);
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    expect((await stream('203.0.113.1')).status).toBe(503);
    const other = await stream('203.0.113.2');
    expect(other.status).toBe(200);
    for (const response of [...streams, other]) await response.body?.cancel();
    await eventually(async () => (await fetch(`${server.url}/healthz`, { headers: { 'X-Forwarded-For': '203.0.113.1' } })).ok);
  });

  it('are explained at the start, with the limit of open files', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'debug', write: (line) => lines.push(line) });
    await started({ log, limits: { connectionsMax: 100 } });
    const line = lines.find((each) => each.includes('connections that this node takes')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ connectionsMax: 100, addressConnectionsMax: 25, reservedConnections: 10 });
    if (process.platform === 'linux') expect(JSON.parse(line)).toMatchObject({ openFilesMax: expect.any(Number) });
  });
});
