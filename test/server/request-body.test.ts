import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { NodeHttpRequest } from '../../src/server/adapters/node/http-request.ts';
import { drained } from '../../src/server/adapters/node/linger.ts';
import { opened } from '../support/server.ts';

const BYTES_MAX = 100;
const server = createServer();
let port = 0;
let received: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse; readonly body: Promise<string> }[] = [];

beforeAll(async () => {
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = new NodeHttpRequest(incoming, outgoing).body(BYTES_MAX).then((bytes) => Buffer.from(bytes).toString());
    received.push({ incoming, outgoing, body });
    body.catch(() => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});

beforeEach(() => {
  received = [];
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const head = (lines: string): string => `POST / HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n\r\n`;

async function sent(text: string): Promise<Socket> {
  const socket = await opened(port);
  socket.on('error', () => undefined);
  socket.write(text);
  return socket;
}

async function bodyAt(at: number): Promise<string> {
  await expect.poll(() => received.length).toBeGreaterThan(at);
  return await (received[at]?.body ?? '');
}

it('reads a body that arrives with its headers', async () => {
  await sent(`${head('Content-Length: 5')}hello`);
  expect(await bodyAt(0)).toBe('hello');
});

it('reads a request without a body', async () => {
  await sent(head('Content-Length: 0'));
  expect(await bodyAt(0)).toBe('');
});

it('joins the chunks of one packet', async () => {
  await sent(`${head('Transfer-Encoding: chunked')}3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n`);
  expect(await bodyAt(0)).toBe('onetwo');
});

it('reads a body that arrives in pieces', async () => {
  const socket = await sent(`${head('Content-Length: 6')}one`);
  await expect.poll(() => received[0]?.incoming.listenerCount('data')).toBe(1);
  socket.write('two');
  expect(await bodyAt(0)).toBe('onetwo');
});

it('reads the next request of the same connection', async () => {
  const socket = await sent(`${head('Content-Length: 5')}first`);
  expect(await bodyAt(0)).toBe('first');
  received[0]?.outgoing.end();
  socket.write(`${head('Content-Length: 6')}second`);
  expect(await bodyAt(1)).toBe('second');
});

it('refuses a complete body that is larger than its limit and names no length', async () => {
  await sent(`${head('Transfer-Encoding: chunked')}80\r\n${'x'.repeat(0x80)}\r\n0\r\n\r\n`);
  await expect(bodyAt(0)).rejects.toThrow(`more than ${BYTES_MAX} bytes`);
});

it('reads the rest of a refused body, so that its sender can finish', async () => {
  const socket = await sent(`${head('Transfer-Encoding: chunked')}80\r\n${'x'.repeat(0x80)}\r\n`);
  await expect(bodyAt(0)).rejects.toThrow(`more than ${BYTES_MAX} bytes`);
  const incoming = received[0]?.incoming;
  if (incoming !== undefined) void drained(incoming);
  socket.write('0\r\n\r\n');
  await expect.poll(() => incoming?.readableEnded).toBe(true);
});

it('fails if the client disconnects before its body is complete', async () => {
  const socket = await sent(`${head('Content-Length: 6')}one`);
  await expect.poll(() => received[0]?.incoming.listenerCount('data')).toBe(1);
  socket.destroy();
  await expect(bodyAt(0)).rejects.toThrow('disconnected');
});
