import { existsSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import type { Agent } from '#protocol';
import { tokenAuth } from '#server';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { mcpMount } from '../../src/tools/adapters/mcp.ts';
import { suiteNeeding } from '../support/needs.ts';
import { raw, startServer } from '../support/server.ts';
import type { Aim } from './browser/attacks.ts';
import { attack } from './browser/attacks.ts';
import { FORGED, WANTED } from './browser/forged.ts';
import type { AttackerServer, NaiveServer } from './browser/servers.ts';
import { attackerServer, naiveServer } from './browser/servers.ts';

/** docs/faults.md, S4: pages of other origins, in a real browser and over sockets, against an open node on loopback and one that runs commands. */
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const TOKEN = 'a-token-that-no-page-of-the-world-has';

const message = { messageId: 'forged', role: 'ROLE_USER', parts: [{ text: 'forged' }] };
const BODIES: Pick<Aim, 'rest' | 'rpc' | 'chat' | 'mcp'> = {
  rest: JSON.stringify({ message }),
  rpc: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  chat: JSON.stringify({ model: 'counted', messages: [{ role: 'user', content: 'forged' }] }),
  mcp: JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'a2a__counted__counted', arguments: { message: 'forged' } },
  }),
};

interface Target {
  readonly name: string;
  readonly node: NodeServer;
  readonly runs: () => number;
  readonly auth: Readonly<Record<string, string>>;
}

async function target(name: string, isCommander: boolean): Promise<Target> {
  let runs = 0;
  const counted = defineAgent({
    name: 'counted',
    description: 'Counts.',
    run: () => {
      runs += 1;
      return 'done';
    },
  });
  const agent: Agent = isCommander ? { ...counted, runsCommands: true } : counted;
  const auth = isCommander ? { auth: [tokenAuth((text) => text === TOKEN)], limits: { requestsPerSecondMax: 0 } } : {};
  const node = await startServer({ agents: [agent], mcp: (agents) => mcpMount(agents), ...auth });
  return { name, node, runs: () => runs, auth: isCommander ? { Authorization: `Bearer ${TOKEN}` } : {} };
}

/** How often the node responded with each status, by route. This shows what got through, whatever the page saw. */
async function answers({ node, auth }: Target): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${node.url}/metrics`, { headers: auth })).text();
  const lines = text.matchAll(/^parley_http_requests_total\{route="(\w+)",status="(\d+)"\} (\d+)$/gm);
  return new Map([...lines].map(([, route, status, count]) => [`${route} ${status}`, Number(count)]));
}

async function tasksOf({ node, auth }: Target): Promise<number> {
  const { totalSize } = (await (await fetch(`${node.url}/tasks`, { headers: auth })).json()) as { totalSize: number };
  return totalSize;
}

/** Runs the attack and checks that no request got through: no agent ran, no task was created, every response was a refusal. */
async function nothingPasses(at: Target, forge: () => Promise<void>): Promise<number> {
  const before = await answers(at);
  await forge();
  const after = await answers(at);
  const news = [...after].map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const).filter(([, count]) => count > 0);
  const isOurs = ([key]: readonly [string, number]): boolean => key === 'metrics 200';
  expect(news.filter(([key]) => !/ 4\d\d$/.test(key)).filter((each) => !isOurs(each))).toEqual([]);
  expect([at.runs(), await tasksOf(at)]).toEqual([0, 0]);
  return news.filter((each) => !isOurs(each)).reduce((sum, [, count]) => sum + count, 0);
}

let targets: readonly Target[];
beforeAll(async () => {
  targets = [await target('an open node', false), await target('a node that runs commands', true)];
});
afterAll(async () => {
  await Promise.all(targets.map(({ node }) => node.close()));
});

describe('S4: forged requests over sockets', () => {
  it(`refuses ${FORGED.length * WANTED.length} forged requests on two nodes`, async () => {
    for (const at of targets) {
      await nothingPasses(at, async () => {
        for (const [name, lines] of FORGED) {
          const asked = WANTED.map(async ([method, path, body]) => {
            const text = body === undefined ? '' : BODIES[body];
            const { status, text: said } = await raw(at.node.port, head(at, { method, path, lines, body: text }));
            expect([name, path, status], said).toEqual([name, path, expect.toSatisfy((code: number) => code >= 400 && code < 500)]);
            expect(said).not.toMatch(/access-control-allow/i);
          });
          await Promise.all(asked);
        }
      });
    }
  });

  it('refuses form bodies of browsers that send no Origin, because they are not JSON', async () => {
    const posts = [
      ...WANTED.filter(([method]) => method === 'POST'),
      ['POST', '/api/parley/v1/tasks/x:retry'],
      ['POST', '/tasks/x:cancel'],
    ] as const;
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/json', 'json'];
    const all = types.flatMap((type) =>
      posts.map(([method, path, body]) => ({ type, method, path, body: body === undefined ? '' : BODIES[body] })),
    );
    for (const [at, wanted] of [
      [targets[0], 415],
      [targets[1], 401],
    ] as const) {
      if (at === undefined) continue;
      for (const { type, ...asked } of all) {
        const { status, text } = await raw(at.node.port, head(at, { ...asked, lines: ['Host: 127.0.0.1:N', `Content-Type: ${type}`] }));
        // JSON-RPC has the error in its body: -32005, ContentTypeNotSupportedError.
        expect([asked.path, type, text.includes('"code":-32005') ? 415 : status]).toEqual([asked.path, type, wanted]);
      }
      expect([at.runs(), await tasksOf(at)]).toEqual([0, 0]);
    }
  });

  it('control: serves the same requests without the forgery', async () => {
    const at = await target('another', false);
    for (const [method, path, body] of WANTED.slice(0, 4)) {
      const text = BODIES[body ?? 'rest'].replaceAll('"forged"', `"${path}"`);
      expect((await raw(at.node.port, head(at, { method, path, lines: ['Host: 127.0.0.1:N'], body: text }))).status).toBe(200);
    }
    expect(at.runs()).toBe(4);
    await at.node.close();
  });
});

interface Head {
  readonly method: string;
  readonly path: string;
  readonly lines: readonly string[];
  readonly body: string;
}

function head({ node }: Target, { method, path, lines, body }: Head): string {
  const named = lines.map((line) => line.replaceAll('N', String(node.port)));
  const isTyped = lines.some((line) => line.startsWith('Content-Type'));
  const about = body === '' ? [] : [...(isTyped ? [] : ['Content-Type: application/json']), `Content-Length: ${Buffer.byteLength(body)}`];
  const accept = 'Accept: application/json, text/event-stream';
  return `${[`${method} ${path} HTTP/1.1`, ...named, accept, 'Connection: close', ...about].join('\r\n')}\r\n\r\n${body}`;
}

suiteNeeding('chromium', CHROMIUM !== undefined, 'S4: pages in Chromium', () => {
  let browser: Browser;
  let own: AttackerServer;
  let naive: NaiveServer;
  beforeAll(async () => {
    own = await attackerServer();
    naive = await naiveServer();
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: [
        '--no-sandbox',
        '--disable-background-networking',
        '--disable-component-update',
        // Newer browsers ask the user before a page may call this machine. Older ones do not, so the test turns that protection off.
        '--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets',
        // Every host name resolves to this machine: no traffic leaves it, and the attackers' names are rebound to the node.
        '--host-resolver-rules=MAP * 127.0.0.1, EXCLUDE 127.0.0.1',
      ],
    });
  });
  afterAll(async () => {
    await browser.close();
    own.close();
    naive.close();
  });

  /** A page of that origin. Where the node itself would answer, as after DNS rebinding, the test puts the page in its place. */
  async function pageOf(origin: string): Promise<Page> {
    const page = await browser.newPage();
    await page.route(`${origin}/page`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><body></body>' }));
    await page.goto(`${origin}/page`);
    return page;
  }

  const spelled = (port: number): readonly (readonly [page: string, node: string])[] => [
    [`http://127.0.0.1:${own.port}`, `http://127.0.0.1:${port}`],
    [`http://localhost:${own.port}`, `http://localhost:${port}`],
    [`http://evil.example:${own.port}`, `http://127.0.0.1:${port}`],
    ['https://evil.example', `http://localhost:${port}`],
    [`http://evil.localhost:${own.port}`, `http://localhost:${port}`],
    [`http://evil.example:${port}`, `http://evil.example:${port}`],
    [`http://localhost.evil.example:${port}`, `http://localhost.evil.example:${port}`],
    [`http://evil.example:${own.port}`, `http://0.0.0.0:${port}`],
    [`http://localhost:${own.port}`, `http://localhost.:${port}`],
  ];

  async function attackFrom(origin: string, node: string): Promise<number> {
    const page = await pageOf(origin);
    try {
      return await page.evaluate(attack, { node, own: own.url, ...BODIES } satisfies Aim);
    } finally {
      await page.close();
    }
  }

  it.each([0, 1])(
    'hundreds of requests, from nine kinds of pages: none reaches a handler of node %i',
    { timeout: 300_000 },
    async (which) => {
      const at = targets[which];
      if (at === undefined) throw new Error('no such node');
      let tried = 0;
      const heard = await nothingPasses(at, async () => {
        for (const [origin, node] of spelled(at.node.port)) tried += await attackFrom(origin, node);
      });
      process.stdout.write(`S4, ${at.name}: ${tried} requests tried in Chromium, ${heard} heard by the node, 0 let in\n`);
      expect(tried).toBeGreaterThan(1000);
      expect(heard).toBeGreaterThan(200);
    },
  );

  it.each([0, 1])('refuses links to routes that are not public: node %i', async (which) => {
    const at = targets[which];
    if (at === undefined) throw new Error('no such node');
    await nothingPasses(at, async () => {
      for (const path of ['/tasks', '/api/parley/v1/tasks', '/metrics', '/v1/models', '/mcp']) {
        const page = await pageOf(`http://evil.example:${own.port}`);
        const going = page.waitForEvent('framenavigated');
        await page.evaluate((url) => location.assign(url), `http://127.0.0.1:${at.node.port}${path}`);
        await going;
        expect(await page.textContent('body')).toMatch(/may not call|"code":4\d\d/);
        await page.close();
      }
    });
  });

  it('control: a server without access checks receives all of them', async () => {
    await attackFrom(`http://evil.example:${own.port}`, `http://127.0.0.1:${naive.port}`);
    expect(naive.sends()).toBeGreaterThan(20);
  });

  it('control: a page of the node itself gets through', async () => {
    for (const at of targets) {
      const page = await browser.newPage();
      await page.goto(`${at.node.url}/healthz`);
      const status = await page.evaluate(
        async ([body = '', auth = '']) => {
          const headers = { 'Content-Type': 'application/json', ...(auth === '' ? {} : { Authorization: auth }) };
          return (await fetch('/message:send', { method: 'POST', headers, body })).status;
        },
        [BODIES.rest, at.auth['Authorization'] ?? ''],
      );
      expect([status, at.runs(), await tasksOf(at)]).toEqual([200, 1, 1]);
      await page.close();
    }
  });
});
