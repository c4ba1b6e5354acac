import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { builtIn, raw, sendBody } from '../../support/server.ts';
import type { Checks, Sent } from './serving.ts';
import { cardOf, post, send, served } from './serving.ts';

const folder = scratchFolder();

export const NODE_CHECKS: Checks = {
  agents: () =>
    served({ agents: ['echo', builtIn('script')] }, async ({ handler }) =>
      expect(handler.agents.map(({ name }) => name)).toEqual(['echo', 'script']),
    ),
  port: async () => {
    let taken = 0;
    await served({}, async ({ port }) => {
      taken = port;
    });
    await served({ port: taken }, async ({ port }) => expect(port).toBe(taken));
  },
  host: () => served({ host: '127.0.0.2' }, async ({ url }) => expect(url).toMatch(/^http:\/\/127\.0\.0\.2:/)),
  url: () =>
    served({ url: 'https://a.example/x' }, async (server) =>
      expect(JSON.stringify(await cardOf(server))).toContain('https://a.example/x/a2a'),
    ),
  data: () =>
    served({ data: join(folder, 'data'), memory: false }, async (server) => {
      await send(server, 'x');
      expect(readdirSync(join(folder, 'data'))).toContain('tasks.db');
    }),
  memory: () => served({ data: join(folder, 'never'), memory: true }, async () => expect(readdirSync(folder)).not.toContain('never')),
  acceptLoss: async () => {
    const [live, copy] = [join(folder, 'live'), join(folder, 'copy')];
    mkdirSync(copy);
    await served({ data: live, memory: false }, async (server) => {
      await send(server, 'x');
      copyFileSync(join(live, 'tasks.db'), join(copy, 'tasks.db'));
    });
    await expect(served({ data: copy, memory: false }, async () => {})).rejects.toThrow('--accept-loss');
    const accepting = { data: copy, memory: false, acceptLoss: true, log: 'warn' } as const;
    const [first, second]: [string[], string[]] = [[], []];
    await served(accepting, async (server) => void (await send(server, 'y')), { lines: first });
    expect(first.join('')).toMatch(
      /"level":"warn".*continues without lost commits.*made without its WAL, so its newest commits are missing/,
    );
    await served(accepting, async () => undefined, { lines: second });
    expect(second.join('')).toMatch(/"level":"warn".*--accept-loss is set, and nothing is missing/);
  },
  search: async () => {
    const status = async ({ url }: { readonly url: string }): Promise<number> => (await fetch(`${url}/api/parley/v1/search?text=x`)).status;
    await served({ data: join(folder, 'found'), memory: false, search: false }, async (server) =>
      expect(await status(server)).not.toBe(200),
    );
    await served({ data: join(folder, 'found'), memory: false }, async (server) => expect(await status(server)).toBe(200));
  },
  allowedHosts: () =>
    served({ allowedHosts: ['lab.internal'] }, async ({ port }) => {
      const status = async (host: string): Promise<number> =>
        (await raw(port, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status;
      expect([await status('lab.internal'), await status('other.internal')]).toEqual([200, 403]);
    }),
  allowedOrigins: () =>
    served({ allowedOrigins: ['https://app.example'] }, async ({ url }) => {
      const from = (origin: string): Promise<Response> => fetch(`${url}/healthz`, { headers: { Origin: origin } });
      const allowed = await from('https://app.example');
      expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example']);
      expect((await from('https://evil.example')).status).toBe(403);
    }),
  profile: () =>
    served({ agents: ['conformance'], profile: 'basic' }, async (server) =>
      expect((await cardOf(server))['capabilities']).toMatchObject({ streaming: false }),
    ),
  card: () => served({ card: 'strict' }, async (server) => expect(Object.keys(await cardOf(server))).not.toContain('url')),
  publisher: () =>
    served({ publisher: 'pub.example' }, async ({ url }) =>
      expect(await (await fetch(`${url}/.well-known/ard.json`)).text()).toContain('urn:air:pub.example:'),
    ),
  idempotency: () =>
    served({ idempotency: 'messageId' }, async ({ url }) => {
      const body = sendBody('x');
      const ids = await Promise.all([1, 2].map(async () => ((await (await post(`${url}/message:send`, body)).json()) as Sent).task.id));
      const third = ((await (await post(`${url}/message:send`, body)).json()) as Sent).task.id;
      expect(new Set([...ids, third]).size).toBe(1);
    }),
  console: () =>
    served(
      { console: false },
      async ({ url }) => {
        expect((await fetch(`${url}/console/`)).status).toBe(404);
        expect((await fetch(url, { headers: { Accept: 'text/html' }, redirect: 'manual' })).status).toBe(200);
        expect((await fetch(`${url}/api/parley/v1/health`)).status).toBe(200);
      },
      { console: () => ({ status: 200, headers: { 'Content-Type': 'text/html' }, body: 'the console' }) },
    ),
  traceUrl: () =>
    served({ traceUrl: 'http://traces.test/{traceId}' }, async ({ url }) => {
      const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
      const headers = { 'Content-Type': 'application/json', traceparent: `00-${trace}-00f067aa0ba902b7-01` };
      const sent = await fetch(`${url}/message:send`, { method: 'POST', headers, body: JSON.stringify(sendBody('x')) });
      expect(JSON.stringify(await sent.json())).toContain(trace);
      expect(await (await fetch(`${url}/api/parley/v1/health`)).json()).toMatchObject({ traceUrl: 'http://traces.test/{traceId}' });
    }),
  docs: () =>
    served({ docs: false }, async ({ url }) => expect((await fetch(`${url}/docs/`)).status).toBe(404), {
      docs: () => ({ status: 200, headers: { 'Content-Type': 'text/html' }, body: 'the documentation' }),
    }),
  grpc: () =>
    served({ grpc: false }, async ({ url }) => {
      const card = await (await fetch(`${url}/.well-known/agent-card.json`)).text();
      expect(card).not.toContain('"GRPC"');
      const headers = { 'Content-Type': 'application/json' };
      const call = await fetch(`${url}/lf.a2a.v1.A2AService/ListTasks`, { method: 'POST', headers, body: '{}' });
      expect(call.status).toBe(415);
    }),
  agUiOnHangUp: () =>
    served({ agUiOnHangUp: 'cancel' }, async ({ url }) => {
      const leave = new AbortController();
      const body = JSON.stringify({
        threadId: 'left',
        runId: 'r',
        messages: [{ id: 'message-of-a-run', role: 'user', content: 'sleep=60000' }],
      });
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(`${url}/ag-ui`, { method: 'POST', headers, body, signal: leave.signal });
      const reader = response.body?.getReader();
      await reader?.read();
      leave.abort();
      await eventually(async () => {
        const { tasks } = (await (await fetch(`${url}/tasks?contextId=left`)).json()) as { tasks: { status: { state: string } }[] };
        expect(tasks[0]?.status.state).toBe('TASK_STATE_CANCELED');
      });
    }),
  versionRequired: () =>
    served({ versionRequired: true }, async ({ url }) => {
      expect((await post(`${url}/message:send`, sendBody('x'))).status).toBe(400);
      expect((await post(`${url}/message:send`, sendBody('x'), { 'A2A-Version': '1.0' })).status).toBe(200);
    }),
  log: async () => {
    const lines: string[] = [];
    await served({ log: 'debug' }, async ({ url }) => void (await fetch(`${url}/healthz`)), { lines });
    expect(lines.join('')).toContain('"path":"/healthz"');
  },
};
