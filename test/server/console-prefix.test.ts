import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { scratchFolder } from '../support/scratch.ts';
import { rpcSend, startServer } from '../support/server.ts';

/** As nginx with `location /parley/ { proxy_pass http://…/; proxy_set_header X-Forwarded-Prefix /parley; }`. */
function proxyTo(port: number): ReturnType<typeof createServer> {
  return createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    if (!url.startsWith('/parley/')) return void outgoing.writeHead(404).end();
    const options = {
      port,
      host: '127.0.0.1',
      path: url.slice('/parley'.length),
      method,
      headers: { ...headers, 'X-Forwarded-Prefix': '/parley/' },
    };
    incoming.pipe(
      send(options, (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      }),
    );
  });
}

describe('a node behind a prefix', () => {
  let [server, proxy, base]: [NodeServer | undefined, ReturnType<typeof createServer> | undefined, string] = [undefined, undefined, ''];
  beforeAll(async () => {
    const folder = scratchFolder();
    mkdirSync(join(folder, 'assets'), { recursive: true });
    writeFileSync(join(folder, 'assets/a.js'), '1');
    writeFileSync(join(folder, 'index.html'), '<script src="./assets/a.js"></script>');
    server = await startServer({ console: createConsole({ folder }), trustedProxies: ['127.0.0.1'] });
    proxy = proxyTo(server.port);
    await new Promise<void>((resolve) => proxy?.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/parley`;
  });
  afterAll(async () => {
    proxy?.closeAllConnections();
    proxy?.close();
    await server?.close();
  });

  it.each(['/console', '/console/', '/console/tasks', '/console/tasks/', '/console/tasks/abc', '/console/wire/node'])(
    'serves pages of the console whose files are found: %s',
    async (path) => {
      const page = await fetch(`${base}${path}`);
      const source = /src="([^"]+)"/.exec(await page.text())?.[1] ?? '';
      const file = await fetch(new URL(source, `${base}${path}`));
      expect([new URL(source, `${base}${path}`).pathname, file.status, await file.text()]).toEqual([
        '/parley/console/assets/a.js',
        200,
        '1',
      ]);
    },
  );

  it.each([
    ['/agents/nope/message:send', 'nothing is served at /parley/agents/nope/message:send: this node has no agent nope'],
    ['/agents/echo/nope/nope', 'nothing is served at /parley/agents/echo/nope/nope'],
    ['/nope', 'nothing is served at /parley/nope'],
  ])('names the whole path where nothing is served: %s', async (path, message) => {
    expect(await (await fetch(`${base}${path}`)).json()).toEqual({ error: { code: 404, status: 'NOT_FOUND', message } });
  });

  it('sends browsers to its console, and names the prefix in cards and in the catalog', async () => {
    const home = await fetch(`${base}/`, { headers: { Accept: 'text/html' }, redirect: 'manual' });
    expect(home.headers.get('location')).toBe('/parley/console/');
    expect(await (await fetch(`${base}/.well-known/agent-card.json`)).text()).toContain(`${base}/a2a`);
    expect(await (await fetch(`${base}/.well-known/ai-catalog.json`)).text()).toContain(`${base}/agents/`);
  });

  it('streams events, and serves the admin API', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify(rpcSend('chunks=2', 'SendStreamingMessage'));
    const stream = await fetch(`${base}/agents/script/a2a`, { method: 'POST', headers, body });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(await stream.text()).toContain('TASK_STATE_COMPLETED');
    expect((await fetch(`${base}/api/parley/v1/health`)).status).toBe(200);
  });

  it('ignores the header of others than the trusted proxy, and values that are no path', async () => {
    const card = async (url: string, prefix: string): Promise<string> =>
      await (await fetch(`${url}/.well-known/agent-card.json`, { headers: { 'X-Forwarded-Prefix': prefix } })).text();
    expect(await card(server?.url ?? '', '//evil.example')).not.toContain('evil');
    const open = await startServer();
    expect(await card(open.url, '/parley')).not.toContain('/parley');
    await open.close();
  });
});
