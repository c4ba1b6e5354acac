import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { corpus, corpusDialects } from '../support/corpus.ts';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import type { Wire } from '../support/malformed.ts';
import { malformed } from '../support/malformed.ts';
import { seeded } from '../support/mutate.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sendTask } from './client.ts';
import { startParley } from './parley.ts';
import { times } from './size.ts';

/**
 * faults.md I1 and H9 together: everything that can be wrong with a request, on every route of a node that asks who calls, byte by byte over
 * sockets. Most bring a good credential, so that they get behind the gate.
 */
const REQUESTS = times(5000, 100_000);
const AT_ONCE = 16;
const HANGS_MS = 15_000;
/** From source. It grows until the 50,000th and levels off at about 400 then. */
const RSS_MIB_MAX = 512;
const TOKEN = 'the-token-of-a-node-that-is-mistreated';
const data = scratchFolder();

suiteNeeding('Linux', process.platform === 'linux', 'I1: malformed requests to the server', () => {
  let server: Parley;
  beforeAll(async () => {
    const args = ['script', '--require-auth', '--allow-loopback-targets'];
    server = await startParley({ agent: 'echo', data, args, env: { PARLEY_TOKEN: TOKEN } });
  });
  afterAll(() => server.kill());

  it(`${REQUESTS} of them: no crash, no 5xx, no hang, bounded memory`, { timeout: 3_000_000 }, async () => {
    const seeds = [...routes(server.port), ...recorded(server.port)];
    const random = seeded(Number(process.env['PARLEY_SEED'] ?? 4));
    const outcomes = new Map<string, number>();
    const wrong: string[] = [];
    let [left, mostMib] = [REQUESTS, 0];
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        if (left % 500 === 0) mostMib = Math.max(mostMib, rssMib(server.pid));
        const bytes = malformed(seeds, random);
        const outcome = await exchange(server.port, bytes);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (/^5|hang|refused/.test(outcome)) wrong.push(`${outcome}: ${bytes.toString('latin1').slice(0, 2000)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    const shares = Object.fromEntries([...outcomes].sort((a, b) => b[1] - a[1]));
    process.stdout.write(`I1, malformed: ${JSON.stringify(shares)}, at most ${Math.round(mostMib)} MiB\n`);
    expect(wrong.slice(0, 5)).toEqual([]);
    // What only ever is refused at the first look would prove little.
    expect((outcomes.get('200') ?? 0) / REQUESTS).toBeGreaterThan(0.1);
    expectFigure(mostMib, { below: RSS_MIB_MAX });
    expect(server.errors().match(/"level":"error".*/g) ?? []).toEqual([]);
    await eventually(() => connectionsOf(server) === 0);
    const headers = { Authorization: `Bearer ${TOKEN}` };
    expect((await sendTask(server.url, 'still here', { headers })).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

function head(port: number): Wire['headers'] {
  return [
    ['Host', `127.0.0.1:${port}`],
    ['Authorization', `Bearer ${TOKEN}`],
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json, text/event-stream'],
    ['Connection', 'close'],
  ];
}

/** One good request to each route, and to each kind of thing below it. */
function routes(port: number): readonly Wire[] {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const mcp = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const posts: readonly (readonly [string, string])[] = [
    ['/message:send', JSON.stringify({ message })],
    ['/message:stream', JSON.stringify({ message })],
    ['/v1/message:send', JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hello' }] } })],
    ['/tasks/x:cancel', '{}'],
    [
      '/tasks/x/pushNotificationConfigs',
      JSON.stringify({ url: 'http://127.0.0.1:9/hook', token: 't', authentication: { scheme: 'Bearer', credentials: 'c' } }),
    ],
    [
      '/message:send',
      JSON.stringify({ message, configuration: { taskPushNotificationConfig: { url: 'http://127.0.0.1:9/hook', token: 't' } } }),
    ],
    [
      '/v1/chat/completions',
      JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }], temperature: 1 }),
    ],
    [
      '/v1/chat/completions',
      JSON.stringify({
        model: 'echo',
        stream: true,
        messages: [
          { role: 'system', content: 'x' },
          { role: 'user', content: 'hi' },
        ],
      }),
    ],
    ['/agents/script/v1/chat/completions', JSON.stringify({ model: 'x', messages: [{ role: 'user', content: 'chunks=2' }] })],
    ['/mcp', mcp('initialize', initialize)],
    ['/mcp', mcp('tools/list', {})],
    ['/mcp', mcp('tools/call', { name: 'a2a__echo__echo', arguments: { message: 'hi' }, _meta: { progressToken: 1 } })],
    ['/agents/script/mcp', mcp('tools/call', { name: 'a2a__script__script', arguments: { message: 'hi' } })],
    ['/api/parley/v1/tasks/x:retry', '{}'],
    ['/api/parley/v1/push/deliveries/1:replay', '{}'],
  ];
  const gets = [
    ...[
      '/',
      '/healthz',
      '/readyz',
      '/metrics',
      '/.well-known/agent-card.json',
      '/.well-known/jwks.json',
      '/.well-known/ai-catalog.json',
      '/v1/models',
    ],
    ...[
      '/v1/models/echo',
      '/tasks',
      '/tasks?pageSize=5&status=TASK_STATE_COMPLETED&includeArtifacts=true',
      '/tasks/x',
      '/tasks/x:subscribe',
      '/mcp',
    ],
    ...['/extendedAgentCard', '/api/parley/v1/tasks?pageSize=5', '/api/parley/v1/tasks/x', '/api/parley/v1/tasks/x/events?after=1&limit=5'],
    ...[
      '/api/parley/v1/audit?after=0&limit=5',
      '/api/parley/v1/push/deliveries',
      '/agents/echo/.well-known/agent-card.json',
      '/console/',
      '/v1/card',
    ],
  ];
  return [
    ...posts.map(([target, body]): Wire => ({ method: 'POST', target, headers: head(port), body })),
    ...gets.map((target): Wire => ({ method: 'GET', target, headers: head(port).filter(([name]) => name !== 'Content-Type') })),
    ...['/tasks/x/pushNotificationConfigs/y', '/api/parley/v1/tasks/x', '/mcp'].map(
      (target): Wire => ({ method: 'DELETE', target, headers: head(port) }),
    ),
  ];
}

/** Every recorded request of every dialect. */
function recorded(port: number): readonly Wire[] {
  return corpusDialects()
    .flatMap((dialect) => corpus(dialect))
    .flatMap(({ request, rest, path = '/' }): readonly Wire[] => {
      if (request !== undefined) return [{ method: 'POST', target: path, headers: head(port), body: JSON.stringify(request) }];
      if (rest === undefined) return [];
      const body = rest.body === undefined ? {} : { body: JSON.stringify(rest.body) };
      return [{ method: rest.verb, target: rest.path, headers: head(port), ...body }];
    });
}

/** The status, `closed` for a connection that ended without one, or what should not be. */
function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    const done = (outcome: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => done('hang'), HANGS_MS);
    const status = (): string | undefined => /^HTTP\/1\.1 ([2-9]\d\d)/m.exec(text)?.[1];
    socket.on('data', (piece: Buffer) => {
      text = (text + piece.toString('latin1')).slice(0, 20_000);
      // A stream may last as long as its task: that it began is enough.
      if (/^content-type: text\/event-stream/im.test(text)) done(status() ?? 'closed');
    });
    socket.on('error', (thrown: NodeJS.ErrnoException) => done(thrown.code === 'ECONNREFUSED' ? 'refused' : (status() ?? 'closed')));
    socket.on('close', () => done(status() ?? 'closed'));
    socket.on('end', () => done(status() ?? 'closed'));
    socket.on('connect', () => socket.end(bytes)); // nothing more comes, however much was promised
  });
}

/** Connections that the node has not let go of: neither listening (0A) nor waiting for what is still under way (06). proc_net_tcp(5). */
function connectionsOf({ pid, port }: Parley): number {
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1);
  const mine = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return rows.filter((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/);
    return local.endsWith(mine) && state !== '0A' && state !== '06';
  }).length;
}

function rssMib(pid: number): number {
  return Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}
