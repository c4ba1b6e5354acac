import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { defineAgent } from '#agents';
import type { ParleyConfig } from '#server';
import { eventually } from '../../support/eventually.ts';
import { metric, raw, sendBody } from '../../support/server.ts';
import { rawStream } from '../../support/sse.ts';
import { unread } from '../../support/unread.ts';
import type { Checks } from './serving.ts';
import { post, send, served, start } from './serving.ts';

const lines: string[] = [];

export const HTTP_LIMIT_CHECKS: Checks = {
  'limits.bodyBytesMax': () =>
    served({ limits: { bodyBytesMax: 300 } }, async ({ url }) => {
      expect((await post(`${url}/message:send`, sendBody('x'.repeat(300)))).status).toBe(413);
      expect((await post(`${url}/message:send`, sendBody('x'))).status).toBe(200);
    }),
  'limits.agUiBodyBytesMax': () =>
    served({ limits: { agUiBodyBytesMax: 300 } }, async ({ url }) => {
      const run = (content: string): object => ({
        threadId: 't',
        runId: 'r',
        messages: [{ id: 'message-of-a-run', role: 'user', content }],
      });
      expect((await post(`${url}/ag-ui`, run('x'.repeat(300)))).status).toBe(413);
      expect((await post(`${url}/ag-ui`, run('x'))).status).toBe(200);
    }),
  'limits.grpcAnswerBytesMax': () =>
    served({ limits: { grpcAnswerBytesMax: 100 } }, async ({ url }) => {
      const headers = { 'Content-Type': 'application/json' };
      const call = await fetch(`${url}/lf.a2a.v1.A2AService/SendMessage`, { method: 'POST', headers, body: JSON.stringify(sendBody('x')) });
      expect([call.status, ((await call.json()) as { code: string }).code]).toEqual([429, 'resource_exhausted']);
    }),
  'limits.publicRequestsPerSecondMax': () => cardsRead({ publicRequestsPerSecondMax: 0, publicRequestsBurstMax: 1 }, [200]),
  'limits.publicRequestsBurstMax': () => cardsRead({ publicRequestsPerSecondMax: 1, publicRequestsBurstMax: 3 }, [200, 429]),
  'limits.jsonDepthMax': () =>
    served({ limits: { jsonDepthMax: 5 } }, async ({ url }) =>
      expect((await post(`${url}/message:send`, sendBody('x', { metadata: { a: { b: { c: { d: {} } } } } }))).status).toBe(400),
    ),
  'limits.jsonMembersMax': () =>
    served({ limits: { jsonMembersMax: 20 } }, async ({ url }) =>
      expect(
        (
          await post(
            `${url}/message:send`,
            sendBody('x', { metadata: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, 1])) }),
          )
        ).status,
      ).toBe(400),
    ),
  'limits.messagePartsMax': () =>
    served({ limits: { messagePartsMax: 1 } }, async ({ url }) =>
      expect(
        (await post(`${url}/message:send`, { message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'a' }, { text: 'b' }] } }))
          .status,
      ).toBe(400),
    ),
  'limits.idCharsMax': () =>
    served({ limits: { idCharsMax: 5 } }, async ({ url }) =>
      expect(
        (await post(`${url}/message:send`, { message: { messageId: '123456', role: 'ROLE_USER', parts: [{ text: 'a' }] } })).status,
      ).toBe(400),
    ),
  'limits.headersMax': () =>
    served({ limits: { headersMax: 3 } }, async ({ port }) => {
      const head = (more: string): string => `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${more}\r\n`;
      expect([(await raw(port, head('A: b\r\n'))).status, (await raw(port, head('A: b\r\nC: d\r\n'))).status]).toEqual([200, 431]);
    }),
  'limits.headerMsMax': () =>
    served({ limits: { headerMsMax: 300 } }, async ({ port }) => {
      // The default is longer than this waits.
      expect((await raw(port, 'GET /healthz HTTP/1.1\r\n', { waitMs: 4500 })).status).toBe(408);
    }),
  'limits.requestMsMax': () =>
    served({ limits: { requestMsMax: 300 } }, async ({ port }) => {
      const head = 'POST /a2a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n';
      // The default is longer than this waits.
      expect((await raw(port, head, { waitMs: 8000 })).status).toBe(408);
    }),
  'limits.streamIdleMsMax': () =>
    served({ limits: { streamIdleMsMax: 300 } }, async ({ port, url }) => {
      const stream = await rawStream(port, { path: '/message:stream', body: sendBody('chunks=8000 size=4000') });
      stream.socket.pause();
      await eventually(async () => (await metric(url, 'parley_streams_cut_total')) === 1);
      stream.break();
    }),
  'limits.keepAliveMs': () =>
    served({ limits: { keepAliveMs: 60 } }, async ({ port }) => {
      const stream = await rawStream(port, { path: '/message:stream', body: sendBody('sleep=1000') });
      await eventually(() => stream.text().includes(': keep-alive'));
      stream.break();
    }),
  'limits.reconnectMs': () =>
    served({ limits: { reconnectMs: 77 } }, async ({ url }) =>
      expect(await (await post(`${url}/message:stream`, sendBody('x'))).text()).toContain('retry: 77\n'),
    ),
  'limits.connectionsMax': () =>
    served({ limits: { connectionsMax: 2, streamsMax: 2 } }, async ({ port, url }) => {
      const streams = await Promise.all([1, 2].map(() => rawStream(port, { path: '/message:stream', body: sendBody('sleep=5000') })));
      await eventually(() => streams.every((stream) => stream.text() !== ''));
      await expect(fetch(`${url}/healthz`)).rejects.toThrow();
      for (const stream of streams) stream.break();
    }),
  'limits.addressConnectionsMax': () =>
    served({ trustedProxies: ['127.0.0.1'], limits: { addressConnectionsMax: 1 } }, async ({ port, url }) => {
      const headers = { 'X-Forwarded-For': '203.0.113.7' };
      const stream = await rawStream(port, { path: '/message:stream', body: sendBody('sleep=5000'), headers });
      await eventually(() => stream.text() !== '');
      expect((await fetch(`${url}/healthz`, { headers })).status).toBe(503);
      stream.break();
    }),
  // Loopback can't reach this limit: test/security/connections.test.ts shows its effect.
  'limits.reservedConnections': () =>
    served({ limits: { reservedConnections: 7 }, log: 'debug' }, async () => expect(lines.join('')).toContain('"reservedConnections":7'), {
      lines,
    }),
  'limits.unsentConnectionBytesMax': () => cutsOneOf(1, { unsentConnectionBytesMax: 4_000_000 }),
  'limits.unsentBytesMax': () => cutsOneOf(2, { unsentBytesMax: 4_000_000 }),
  'limits.streamsMax': () =>
    served({ limits: { streamsMax: 1 } }, async ({ port, url }) => {
      const stream = await rawStream(port, { path: '/message:stream', body: sendBody('sleep=5000') });
      await eventually(() => stream.text() !== '');
      expect((await post(`${url}/message:stream`, sendBody('x'))).status).toBe(503);
      stream.break();
    }),
  'limits.drainMsMax': async () => {
    let isDone = false;
    const slow = defineAgent({
      name: 'slow',
      description: 'takes 5 s',
      run: async (turn) => {
        await sleep(5000, undefined, { signal: turn.signal });
        isDone = true;
      },
    });
    // By default a shutdown would let the run finish.
    await served({ limits: { drainMsMax: 2300 } }, async (server) => void (await start(server, 'x')), { agent: slow });
    expect(isDone).toBe(false);
  },
  'limits.cardAgeMsMax': () =>
    served({ limits: { cardAgeMsMax: 7000 } }, async ({ url }) =>
      expect((await fetch(`${url}/.well-known/agent-card.json`)).headers.get('cache-control')).toBe('public, max-age=7'),
    ),
};

/** Reads the card twenty times at once, as a client behind a proxy. */
async function cardsRead(limits: ParleyConfig['limits'] & {}, statuses: readonly number[]): Promise<void> {
  await served({ trustedProxies: ['127.0.0.1'], limits }, async ({ url }) => {
    const read = (): Promise<Response> => fetch(`${url}/.well-known/agent-card.json`, { headers: { 'X-Forwarded-For': '203.0.113.7' } });
    const responses = await Promise.all(Array.from({ length: 20 }, read));
    expect([...new Set(responses.map(({ status }) => status))].sort()).toEqual(statuses);
  });
}

/** Opens connections that do not read a large response, and waits until one of them is closed. */
async function cutsOneOf(connections: number, limits: ParleyConfig['limits'] & {}): Promise<void> {
  await served({ limits }, async (server) => {
    const { id } = await send(server, 'chunks=16 size=1048576 delay=100', { returnImmediately: true });
    await eventually(async () => (await metric(server.url, 'parley_tasks_running')) === 0);
    const sockets = Array.from({ length: connections }, () => unread(server.port, `/tasks/${id}`));
    await eventually(async () => (await metric(server.url, 'parley_streams_cut_total')) === 1);
    for (const socket of sockets) socket.destroy();
  });
}
