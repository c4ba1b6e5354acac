// `node --conditions=our-src scripts/screenshots.ts [--png] [PAGE …]`: looks at every page of the console in Chromium, wide and on a phone, light and dark,
// and writes the pictures to docs/screenshots/. The node has real tasks: answers, questions, failures, a webhook that is refused.
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { builtInAgents, defineAgent, status } from '#agents';
import { createLog } from '#server';
import { createDemo } from '../src/agents/built-in/demo.ts';
import { createConsole } from '../src/server/adapters/console.ts';
import { serve } from '../src/server/adapters/node.ts';
import { openBrowser } from '../test/support/browser.ts';

const given = process.argv.slice(2);
/** With `--png`, exact pictures in screenshots/, which git ignores. */
const isExact = given.includes('--png');
const OUT = join(fileURLToPath(new URL('..', import.meta.url)), isExact ? 'screenshots' : 'docs/screenshots');
const QUALITY = 55;
const SIZES = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

const REPORT = `## Sales in spring

| month | orders | change |
|---|---:|---:|
| March | 1,204 | +4 % |
| April | 1,377 | +14 % |

- [x] numbers checked
- [ ] sent to Ann

\`\`\`ts
const total = orders.reduce((sum, { price }) => sum + price, 0);
\`\`\``;

const reports = defineAgent({
  name: 'reports',
  description: 'Writes reports about sales.',
  skills: [
    {
      id: 'ask',
      name: 'Ask about sales',
      description: 'Answers questions about sales, in words.',
      tags: ['sales'],
      examples: ['How were sales in spring?', 'And in autumn?'],
    },
    {
      id: 'report',
      name: 'Report',
      description: 'A report about a season.',
      tags: ['sales'],
      input: z.object({ season: z.enum(['spring', 'summer']), year: z.number().optional() }),
    },
  ],
  run: async function* (turn) {
    // Without a stack: pictures must not show the paths of the machine that made them.
    if (turn.text.includes('autumn')) throw Object.assign(new Error('the database has no orders of autumn'), { stack: '' });
    yield status([{ text: 'Using tool: orders' }, { data: { id: '1', tool: 'orders', title: 'Read the orders of spring' } }], {
      event: 'tool_use',
    });
    await new Promise((resolve) => setTimeout(resolve, 420));
    yield status([{ text: 'Tool result: 2,581 orders' }, { data: { id: '1', isError: false } }], { event: 'tool_result' });
    yield status('Compares with last year');
    await new Promise((resolve) => setTimeout(resolve, 180));
    yield REPORT;
    await new Promise((resolve) => setTimeout(resolve, 90));
  },
});

const script = builtInAgents.get('script')?.create();
const agents = [createDemo({ wordMs: 1, stepMs: 60_000 }), reports, ...(script === undefined ? [] : [script])];
const log = createLog({ write: () => {} });
const server = await serve(agents, { port: 0, console: createConsole(), otel: false, log, tellCauses: true, allowLoopbackTargets: true });
const refusing = createServer((_, outgoing) => outgoing.writeHead(410).end());
await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', () => resolve()));
const address = refusing.address();
const hook = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hook`;

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
    headers: { 'Content-Type': 'application/json' },
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
await send('demo', 'slow');

const PAGES: Readonly<Record<string, string>> = {
  home: '/home',
  chat: '/chat',
  conversation: `/chat/reports?with=${report.contextId}`,
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
  health: '/health',
};

const only = given.filter((name) => !name.startsWith('-'));
mkdirSync(OUT, { recursive: true });
const browser = await openBrowser();
for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ viewport, colorScheme, baseURL: server.url });
    const page = await context.newPage();
    for (const [name, path] of Object.entries(PAGES)) {
      if (only.length > 0 && !only.includes(name)) continue;
      await page.goto(`/console${path}`);
      await page.locator('main h1, main .transcript, main .empty').first().waitFor();
      await page.waitForTimeout(1800);
      const place = join(OUT, `${name}-${size}-${colorScheme}`);
      if (isExact) await page.screenshot({ path: `${place}.png` });
      else await page.screenshot({ path: `${place}.jpg`, type: 'jpeg', quality: QUALITY });
    }
    await context.close();
  }
}
await browser.close();
refusing.close();
await server.close();
