// `node --conditions=our-src scripts/screenshots.ts [--png] [PAGE …]`: looks at every page of the console in Chromium, wide and on a phone, light and dark,
// and writes the pictures to docs/screenshots/. The node has real tasks: answers, questions, failures, a webhook that is refused. Three processes share a
// Postgres for the page of the replicas, and fifty agents are on a Mosquitto for that of the mesh.
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { builtInAgents } from '#agents';
import { createLog, tokenAuth } from '#server';
import { createDemo } from '../src/agents/built-in/demo.ts';
import { createConsole } from '../src/server/adapters/console.ts';
import { serve } from '../src/server/adapters/node.ts';
import { openBrowser } from '../test/support/browser.ts';
import { press, reports, rooms, sources, writer } from './screenshots/agents.ts';
import type { Place } from './screenshots/clusters.ts';
import { startMesh, startReplicas } from './screenshots/clusters.ts';

const given = process.argv.slice(2);
/** With `--png`, exact pictures in screenshots/, which git ignores, also of `SEEN_ONLY`. */
const isExact = given.includes('--png');
const OUT = join(fileURLToPath(new URL('..', import.meta.url)), isExact ? 'screenshots' : 'docs/screenshots');
const QUALITY = 55;
const SIZES = {
  wide: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const;

const script = builtInAgents.get('script')?.create();
const workflow = press((name) => server.handler.agents.find((agent) => agent.name === name)?.service);
const agents = [
  createDemo({ wordMs: 1, stepMs: 60_000 }),
  reports,
  workflow,
  sources,
  writer,
  rooms,
  ...(script === undefined ? [] : [script]),
];
const log = createLog({ write: () => {} });
const server = await serve(agents, { port: 0, console: createConsole(), otel: false, log, tellCauses: true, allowLoopbackTargets: true });
const locked = await serve([createDemo({})], { port: 0, console: createConsole(), otel: false, log, auth: [tokenAuth(() => false)] });
const refusing = createServer((_, outgoing) => outgoing.writeHead(410).end());
await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', () => resolve()));
const address = refusing.address();
const hook = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hook`;

/** What the console asks for, too: otherwise an agent describes its form in words. */
const A2UI = 'https://a2ui.org/a2a-extension/a2ui/v0.9.1';

interface Sent {
  readonly id: string;
  readonly contextId: string;
}

async function send(agent: string, text: string, more: object = {}): Promise<Sent> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more };
  const configuration = {
    returnImmediately: text === 'slow',
    ...(text === 'file' ? { taskPushNotificationConfig: { url: hook } } : {}),
  };
  const response = await fetch(`${server.url}/agents/${agent}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Extensions': A2UI },
    body: JSON.stringify({ message, configuration }),
  });
  const { task } = (await response.json()) as { task: Sent };
  return task;
}

await send('demo', 'stream');
await send('demo', 'file');
const waiting = await send('demo', 'approve');
await send('script', 'ask');
const report = await send('reports', 'How were sales in spring?');
const failed = await send('reports', 'And in autumn?', { contextId: report.contextId });
const charted = await send('reports', 'Show them as a chart');
const booking = await send('rooms', 'A room for Friday');
const delegated = await send('press', 'bees in cities');
await send('demo', 'slow');

const PAGES: Readonly<Record<string, string>> = {
  home: '/home',
  chat: '/chat',
  conversation: `/chat/reports?with=${report.contextId}`,
  files: `/chat/reports?with=${charted.contextId}`,
  form: `/chat/rooms?with=${booking.contextId}`,
  delegated: `/chat/press?with=${delegated.contextId}`,
  question: `/chat/demo?with=${waiting.contextId}`,
  tour: '/tour',
  tasks: '/tasks',
  task: `/tasks/${report.id}`,
  compare: `/tasks/${report.id}?compare=${failed.id}`,
  wire: '/wire/rosetta',
  agents: '/agents',
  agent: '/agents/reports',
  approvals: '/approvals',
  push: '/push',
  mesh: '/mesh',
  replicas: '/replicas',
  health: '/health',
};
/** Pages to look at that the documentation does not need. */
const SEEN_ONLY: Readonly<Record<string, string>> = {
  'task-failed': `/tasks/${failed.id}`,
  'task-tree': `/tasks/${delegated.id}`,
  'task-asking': `/tasks/${waiting.id}`,
  'new-chat': '/chat/reports',
  'wire-here': '/wire',
  'wire-all': '/wire/node',
  'wire-raw': '/wire/raw',
  shared: '/shared',
  search: '/tasks?q=spring',
  'sign-in': '/home',
  nowhere: '/no-such-page',
};

const only = given.filter((name) => !name.startsWith('-'));
const wanted = Object.entries({ ...PAGES, ...(isExact ? SEEN_ONLY : {}) }).filter(([name]) => only.length === 0 || only.includes(name));
const isWanted = (page: string): boolean => wanted.some(([name]) => name === page);
const places: Readonly<Record<string, Place | undefined>> = {
  mesh: isWanted('mesh') ? await startMesh() : undefined,
  replicas: isWanted('replicas') ? await startReplicas() : undefined,
  'sign-in': { url: locked.url, stop: () => locked.close() },
};

async function shoot(page: Page, name: string, path: string): Promise<void> {
  await page.goto(`${places[name]?.url ?? server.url}/console${path}`);
  await page.locator('main h1, main .transcript, main .empty, .sign-in').first().waitFor();
  await page.waitForTimeout(name === 'mesh' ? 12_000 : 1800);
}

mkdirSync(OUT, { recursive: true });
const browser = await openBrowser();
for (const [size, screen] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ ...screen, colorScheme });
    const page = await context.newPage();
    for (const [name, path] of wanted) {
      await shoot(page, name, path);
      const place = join(OUT, `${name}-${size}-${colorScheme}`);
      if (isExact) await page.screenshot({ path: `${place}.png` });
      else await page.screenshot({ path: `${place}.jpg`, type: 'jpeg', quality: QUALITY });
    }
    await context.close();
  }
}
await browser.close();
refusing.close();
for (const place of Object.values(places)) await place?.stop();
await server.close();
