import type { ClientHttp2Session } from 'node:http2';
import { connect, createServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { Http2SessionWatch } from '../../src/server/adapters/node/http2-session.ts';
import { eventually } from '../support/eventually.ts';

const MINUTE_MS = 60_000;
const LIMITS = { keepAliveMs: 0, headerMsMax: MINUTE_MS, requestMsMax: MINUTE_MS };
const server = createServer();
const clients: ClientHttp2Session[] = [];

afterEach(() => {
  vi.useRealTimers();
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

/** Opens a connection, and watches it on the server's side. */
async function opened(url: string, sockets: readonly Socket[]): Promise<{ client: ClientHttp2Session; watch: Http2SessionWatch }> {
  const watching = new Promise<Http2SessionWatch>((resolve) => {
    server.once('session', (session) => resolve(new Http2SessionWatch(session, sockets.at(-1) as Socket, LIMITS)));
  });
  const client = connect(url);
  clients.push(client);
  return { client, watch: await watching };
}

it('a connection of HTTP/2 without a stream for five minutes is closed, and one with a stream is not', async () => {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const [idle, busy, was] = [await opened(url, sockets), await opened(url, sockets), await opened(url, sockets)];
  busy.watch.opened();
  was.watch.opened();
  vi.advanceTimersByTime(4 * MINUTE_MS);
  was.watch.closed();
  vi.advanceTimersByTime(2 * MINUTE_MS);
  vi.useRealTimers();
  await eventually(() => expect(idle.client.closed).toBe(true));
  expect([busy.client.closed, was.client.closed]).toEqual([false, false]);
});
