import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { metric, sendBody, startServer } from '../support/server.ts';

const servers: NodeServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function started(): Promise<NodeServer> {
  const server = await startServer({ limits: { drainMsMax: 2000 } });
  servers.push(server);
  return server;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** Sends everything at once. */
function sent(port: number, text: string): { readonly read: () => string; readonly isClosed: () => boolean; close(): void } {
  const socket = connect(port, '127.0.0.1');
  const pieces: Buffer[] = [];
  socket.on('error', () => undefined); // the server disconnects it
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.write(text);
  return { read: () => Buffer.concat(pieces).toString(), isClosed: () => socket.closed, close: () => socket.destroy() };
}

describe('requests that are sent before the responses to earlier ones', () => {
  it('are answered one after the other, in order', async () => {
    const { port } = await started();
    const ids = ['a', 'b', 'c', 'd'];
    const client = sent(port, ids.map((id) => post('/a2a/jsonrpc', JSON.stringify({ jsonrpc: '2.0', id, method: 'none' }))).join(''));
    await eventually(() => ids.every((id) => client.read().includes(`"id":"${id}"`)));
    expect([...client.read().matchAll(/"id":"(\w)"/g)].map(([, id]) => id)).toEqual(ids);
    client.close();
  });

  it('are not handled while the response before them is open, nor after a disconnect', async () => {
    const { port, url } = await started();
    const stream = post('/message:stream', JSON.stringify(sendBody('sleep=60000')));
    const client = sent(port, `${stream}${post('/message:send', JSON.stringify(sendBody('hello'))).repeat(20)}`);
    await eventually(() => client.read().includes('WORKING'));
    expect((await listed(url)).length).toBe(1);
    client.close();
    await eventually(async () => (await metric(url, 'parley_streams_open')) === 0);
    expect((await listed(url)).length).toBe(1);
  });

  it('close the connection if there are too many', async () => {
    const { port, url } = await started();
    const stream = post('/message:stream', JSON.stringify(sendBody('sleep=60000')));
    const client = sent(port, `${stream}${get('/.well-known/agent-card.json').repeat(500)}`);
    await eventually(() => client.isClosed());
    await eventually(async () => (await metric(url, 'parley_streams_open')) === 0);
  });
});

async function listed(url: string): Promise<readonly object[]> {
  return ((await (await fetch(`${url}/tasks`)).json()) as { readonly tasks: readonly object[] }).tasks;
}
