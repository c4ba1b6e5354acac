import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent, status } from '#agents';
import { createLog } from '#server';
import { createDemo } from '../../src/agents/built-in/demo.ts';
import { NAV } from '../../src/console/nav.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { allFaults } from '../support/axe.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

const LONG = 'a-word-without-any-end-'.repeat(8);
const reporter = defineAgent({
  name: 'reporter',
  description: 'Writes everything that a chat can show.',
  run: async function* (turn) {
    if (turn.text === 'fail') throw new Error(`the disk is full ${LONG}`);
    yield status([{ text: 'Asks' }, { data: { type: 'tool_use', id: '1', agent: 'critic', title: LONG } }]);
    yield status('Judges', { agent: 'critic' });
    yield `# Title\n\n| a | b |\n|---|---|\n| ${LONG} | 2 |\n\n- [x] done\n\n\`\`\`ts\nconst ${LONG.replaceAll('-', '_')} = 1;\n\`\`\`\n\n${LONG}`;
  },
});

const SIZES = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

suiteNeeding('chromium', CHROMIUM !== undefined, 'every page of the console', () => {
  let server: NodeServer;
  let browser: Browser;
  let pages: readonly string[];
  beforeAll(async () => {
    const agents = [createDemo({ wordMs: 1, stepMs: 1 }), reporter, builtIn('script')];
    server = await startServer({ agents, console: createConsole(), log: createLog({ write: () => {} }), tellCauses: true });
    browser = await openBrowser();
    const send = async (agent: string, text: string): Promise<{ id: string; contextId: string }> => {
      const response = await fetch(jsonRequest(`${server.url}/agents/${agent}/message:send`, sendBody(text)));
      return ((await response.json()) as { task: { id: string; contextId: string } }).task;
    };
    const [done, failed, asking] = [await send('reporter', LONG), await send('reporter', 'fail'), await send('demo', 'approve')];
    pages = [
      ...NAV.map(([to]) => to),
      ...[`/chat/reporter?with=${done.contextId}`, `/chat/demo?with=${asking.contextId}`, '/chat/demo', '/chat/nobody'],
      ...[`/tasks/${done.id}`, `/tasks/${failed.id}`, `/tasks/${asking.id}`, `/tasks/${done.id}?compare=${failed.id}`, '/tasks/none'],
      ...['/tasks?status=TASK_STATE_FAILED', '/tasks?q=nothing-like-this', '/wire/node', '/wire/rosetta', '/wire/raw'],
      ...['/agents/reporter', `/approvals/${asking.id}`, '/shared', '/signed-in', '/no-such-page'],
    ];
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it.each([
    ['wide', 'light'],
    ['wide', 'dark'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const)('has no fault for axe, breaks no policy and fits the screen: %s, %s', { timeout: 400_000 }, async (size, colorScheme) => {
    const { page, wrongs } = await openPage(browser, server.url, { viewport: SIZES[size], colorScheme });
    const found: string[] = [];
    for (const path of pages) {
      await page.goto(`/console${path}`);
      await page.locator('main h1, main .transcript, main .empty, main .chips').first().waitFor();
      await expect.poll(() => page.locator('main .loading').count()).toBe(0);
      found.push(...(await allFaults(page)).map((fault) => `${path}: ${fault}`));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) found.push(`${path}: ${wide} px wider than the screen`);
    }
    expect(found).toEqual([]);
    expect(wrongs).toEqual([]);
    await page.context().close();
  });
});
