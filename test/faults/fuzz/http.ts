import fc from 'fast-check';
import { exchange, httpSeeds, rssMib } from '../../support/http-seeds.ts';
import { malformed } from '../../support/malformed.ts';
import { seeded } from '../../support/mutate.ts';
import type { Parley } from '../../support/parley.ts';
import { sendTask } from '../client.ts';
import { startParley } from '../parley.ts';
import { BYTES, payloads } from './cases.ts';
import type { FuzzCase, FuzzSurface } from './surface.ts';
import { assertNoErrors, HANG_MS } from './surface.ts';

const TOKEN = 'the-token-of-a-node-that-is-fuzzed-here';
const AUTH = { Authorization: `Bearer ${TOKEN}` };

interface FuzzedNode {
  readonly server: Parley;
  /** Requests that were not refused, since the last check. */
  accepted: number;
  tasks: number;
}

/** Requests over HTTP/1.1 and upgrades to other protocols, byte by byte, to every route of a node. */
export async function httpSurfaces(data: string): Promise<readonly FuzzSurface[]> {
  const args = ['script', '--require-auth', '--allow-loopback-targets'];
  const server = await startParley({ agent: 'echo', data, args, env: { PARLEY_TOKEN: TOKEN } });
  const node: FuzzedNode = { server, accepted: 0, tasks: 0 };
  const common = { check: () => check(node), rssMib: () => rssMib(server.pid) };
  return [
    { name: 'http', cases: requests(server.port), send: (input) => send(node, input), ...common, close: () => server.kill() },
    { name: 'upgrade', cases: upgrades(server.port), send: (input) => send(node, input), ...common, close: async () => {} },
  ];
}

function requests(port: number): fc.Arbitrary<FuzzCase> {
  const seeds = httpSeeds(port, TOKEN);
  const posts = seeds.filter(({ body }) => body !== undefined);
  const bodies = payloads(posts.map(({ body = '' }) => body));
  return fc.oneof(
    fc.noShrink(fc.integer()).map((seed): FuzzCase => [malformed(seeds, seeded(seed)).toString('latin1')]),
    fc.tuple(fc.constantFrom(...posts), bodies).map(([{ target, headers }, body]): FuzzCase => {
      const lines = [...headers, ['Content-Length', String(body.length)] as const].map(([name, value]) => `${name}: ${value}\r\n`);
      return [`POST ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`];
    }),
  );
}

const PATHS = ['/', '/a2a', '/mcp', '/tasks', '/message:stream', '/console/', '/api/parley/v1/observe', '/agents/echo/a2a', '*'];
const PROTOCOLS = ['websocket', 'WebSocket', 'h2c', 'TLS/1.0', 'websocket, h2c', 'irc/6.9', '', 'x'.repeat(9000)];

function upgrades(port: number): fc.Arbitrary<FuzzCase> {
  const header = fc.constantFrom(
    ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Version: -1'],
    ...[
      'Sec-WebSocket-Protocol: a2a',
      'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99',
      'HTTP2-Settings: AAMAAABk',
    ],
    ...[
      'Origin: http://evil.example',
      'Expect: 100-continue',
      'Transfer-Encoding: chunked',
      'Content-Length: 5',
      `Authorization: Bearer ${TOKEN}`,
    ],
  );
  const head = fc.record({
    method: fc.constantFrom('GET', 'GET', 'POST', 'CONNECT', 'OPTIONS', 'PRI'),
    path: fc.constantFrom(...PATHS),
    protocol: fc.constantFrom(...PROTOCOLS),
    connection: fc.constantFrom('Upgrade', 'upgrade, keep-alive', 'close, Upgrade', 'Upgrade, HTTP2-Settings'),
    headers: fc.array(header, { maxLength: 6 }),
  });
  return fc.tuple(head, fc.array(BYTES, { maxLength: 4 })).map(([{ method, path, protocol, connection, headers }, frames]): FuzzCase => {
    const lines = [`Host: 127.0.0.1:${port}`, `Connection: ${connection}`, `Upgrade: ${protocol}`, ...headers];
    return [`${method} ${path} HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`, ...frames];
  });
}

async function send(node: FuzzedNode, input: FuzzCase): Promise<void> {
  const outcome = await exchange(node.server.port, Buffer.from(input.join(''), 'latin1'), HANG_MS);
  if (/^5|hang|refused|^101/.test(outcome))
    throw new Error(`the node answered with ${outcome} to ${JSON.stringify(input.join('')).slice(0, 500)}`);
  if (!/^4/.test(outcome)) node.accepted += 1;
}

async function check(node: FuzzedNode): Promise<void> {
  const { server } = node;
  assertNoErrors(server.errors());
  const before = await total(server.url);
  if (before - node.tasks > node.accepted) throw new Error(`${before - node.tasks} tasks were made by ${node.accepted} accepted requests`);
  const { status } = await sendTask(server.url, 'still here', { headers: AUTH });
  if (status.state !== 'TASK_STATE_COMPLETED') throw new Error(`a good request ended as ${status.state}`);
  node.accepted = 0;
  node.tasks = await total(server.url);
}

async function total(url: string): Promise<number> {
  const response = await fetch(`${url}/api/parley/v1/tasks?pageSize=1`, { headers: AUTH });
  const { totalSize } = (await response.json()) as { readonly totalSize?: number };
  if (totalSize === undefined) throw new Error(`the list of tasks has no total: ${response.status}`);
  return totalSize;
}
