import { createServer } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '#agents';
import { createLog } from '#server';
import { createDemo } from '../../src/agents/built-in/demo.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

const weather = defineAgent({
  name: 'weather',
  description: 'Says what the weather will be, as far as one can know.',
  skills: [
    {
      id: 'forecast',
      name: 'Forecast',
      description: 'The weather of a place.',
      tags: ['weather'],
      input: z.object({ city: z.string(), days: z.number(), unit: z.enum(['C', 'F']) }),
    },
  ],
  run: async function* (turn) {
    yield `It will rain in ${JSON.stringify(turn.input)}.`;
  },
});

suiteNeeding('chromium', CHROMIUM !== undefined, 'the pages of the console', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    const agents = [createDemo({ wordMs: 2, stepMs: 2000 }), builtIn('script'), builtIn('echo'), weather];
    server = await startServer({ agents, console: createConsole(), log: createLog({ write: () => {} }), allowLoopbackTargets: true });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const send = async (agent: string, text: string, more: object = {}): Promise<string> => {
    const body = sendBody(text, { configuration: { returnImmediately: /sleep|slow/.test(text), ...more } });
    const response = await fetch(jsonRequest(`${server.url}/agents/${agent}/message:send`, body));
    return ((await response.json()) as { task: { id: string } }).task.id;
  };
  const checked = async (name: string): Promise<void> => {
    await watched.picture(name);
    expect(await seriousFaults(watched.page)).toEqual([]);
  };

  it('lists tasks live, with filters and search', async () => {
    const { page } = watched;
    await page.goto('/console/tasks');
    await page.getByText('No tasks yet').waitFor();
    await checked('tasks-empty');
    const id = 'fail now';
    await send('script', id);
    await send('echo', 'hello');
    const list = page.getByRole('list', { name: 'Tasks' });
    await list.getByText(id).waitFor(); // appears without a reload, by its first words
    await list.getByText('completed').waitFor();
    await page.getByLabel('State').selectOption({ label: 'failed' });
    await list.getByText('completed').waitFor({ state: 'detached' });
    expect(page.url()).toContain('status=TASK_STATE_FAILED');
    await page.goto('/console/tasks');
    await page.getByLabel('Search tasks').fill('echo');
    await list.getByText(id).waitFor({ state: 'detached' });
    // What an agent said is found on the node, also if it is not among the first words.
    await page.getByLabel('Search tasks').fill('mess* "asked me"');
    await list.locator('mark', { hasText: 'asked' }).waitFor();
    expect(await list.locator('.task-row').count()).toBe(1);
    expect(page.url()).toContain('q=mess');
    await checked('tasks-found');
    await page.getByLabel('Search tasks').fill('nobody has this');
    await page.getByText('No matching tasks').waitFor();
    await page.goto('/console/tasks');
    await list.getByText(id).waitFor();
    await checked('tasks-list');
  });

  it('stops a live list, and shows the columns that the reader wants', async () => {
    const { page } = watched;
    const list = page.getByRole('list', { name: 'Tasks' });
    await page.getByRole('button', { name: 'Pause' }).click();
    await send('echo', 'while it stood still');
    // The page has asked for changes twice since, and would have drawn them.
    for (let polls = 0; polls < 2; polls += 1) await page.waitForResponse(/\/health/);
    expect(await list.getByText('while it stood still').count()).toBe(0);
    await page.getByRole('button', { name: 'Continue' }).click();
    await list.getByText('while it stood still').waitFor();
    await page.getByText('Columns', { exact: true }).click();
    await page.getByLabel('Dialect').check();
    await page.getByLabel('Caller').uncheck();
    await list.getByText('v10').first().waitFor();
    await checked('tasks-columns');
    await page.reload();
    await list.getByText('v10').first().waitFor();
    expect(await list.locator('.t-who').count()).toBe(0);
    await page.evaluate(() => localStorage.clear());
  });

  it('shows the events of a task, and replays them', async () => {
    const { page } = watched;
    const id = await send('script', 'chunks=20 delay=20');
    await page.goto(`/console/tasks/${id}`);
    await page.getByText('All 22 events').waitFor();
    await page.getByText('chunk 20').first().waitFor();
    await page.getByLabel(/Move the slider/).fill('5');
    await page.getByText('After event 5 of 22').waitFor();
    await page.locator('.artifact-panel').getByText('chunk 4').waitFor();
    expect(await page.locator('.artifact-panel').getByText('chunk 5').count()).toBe(0);
    await page
      .getByRole('button', { name: /artifact/ })
      .first()
      .click();
    await checked('tasks-detail');
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await page.getByText('All 22 events').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete for good' }).click();
    await page.waitForURL(/\/tasks$/);
    await page.goto('/console/tasks/no-such-task');
    await page.getByText('Task not found').waitFor();
  });

  it('follows a running task, and cancels it', async () => {
    const { page } = watched;
    const id = await send('demo', 'slow');
    await page.goto(`/console/tasks/${id}`);
    await page
      .getByText(/Step 2 of 10/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.locator('h1').getByText('canceled').waitFor();
  });

  it('lists approvals, and sends answers', async () => {
    const { page } = watched;
    await page.goto('/console/approvals');
    await page.getByText('No approvals').waitFor();
    const one = await send('demo', 'approve');
    await send('script', 'ask');
    const inbox = page.getByRole('article', { name: 'demo asks' });
    await inbox.getByRole('button', { name: 'Yes, make it' }).waitFor();
    await page.locator('nav .bubble').getByText('2').waitFor();
    await checked('approvals');
    await inbox.getByText('demo asks local to decide').waitFor();
    await inbox.getByRole('link', { name: 'approve' }).waitFor(); // the request
    await inbox.focus();
    await page.keyboard.press('1');
    await inbox.waitFor({ state: 'detached' });
    await page.getByLabel('Answer script with text').fill('forty-two');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('No approvals').waitFor();
    await page.goto(`/console/tasks/${one}`);
    await page.getByText('Thank you.').first().waitFor();
  });

  it('shows requests as sent, in every dialect, and sends raw requests', async () => {
    const { page } = watched;
    await page.goto('/console/wire');
    await page.getByText('No requests yet').waitFor();
    await page.goto('/console/wire/raw');
    await page.getByLabel(/^Agent/).selectOption('script');
    await page.getByLabel('Start with a request of').selectOption('v03');
    await page.getByLabel('Operation').selectOption('stream');
    const body = page.getByLabel(/JSON-RPC, sent as it stands/);
    await expect.poll(() => body.inputValue()).toContain('message/stream');
    await page.getByRole('button', { name: 'Send it' }).click();
    await page.getByRole('list', { name: 'Frames' }).getByText('completed:').waitFor();
    await checked('wire-exchange');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = async (label: string): Promise<string> => {
      await page.getByRole('button', { name: label }).click();
      await page.getByText(`Copied: ${label}`).waitFor();
      return await page.evaluate(() => navigator.clipboard.readText());
    };
    expect(await copied('as curl')).toMatch(/^curl -N -X POST 'http/);
    expect(await copied('as CLI')).toMatch(/^parley send 'hello' -a http.* --stream$/);
    expect(await copied('as TypeScript')).toContain("import { A2AClient } from 'parley-a2a'");
    await page.goto('/console/wire/raw');
    await page.getByLabel(/JSON-RPC, sent as it stands/).fill('{ not json');
    await page.getByRole('button', { name: 'Send it' }).click();
    await page.getByText('This is not JSON').waitFor();
    await page.goto('/console/wire/rosetta');
    await expect.poll(() => page.getByRole('list', { name: 'Dialects' }).locator('> li').count()).toBe(8);
    expect(await page.getByText(/\d+ lost/).count()).toBeGreaterThan(0);
    await checked('wire-rosetta');
  });

  it('shows and checks cards, tries interfaces, and makes forms from schemas', async () => {
    const { page } = watched;
    await page.goto('/console/agents');
    await page.getByRole('link', { name: /weather/ }).click();
    await page
      .getByRole('cell', { name: /^answers/ })
      .first()
      .waitFor();
    await page.getByText('there is no example for forecast').waitFor();
    await page.getByLabel('city').fill('Bern');
    await page.getByLabel('days').fill('3');
    await page.getByLabel('unit').selectOption('C');
    await checked('agents-card');
    await page.getByRole('form', { name: 'Run Forecast' }).getByRole('button', { name: 'Run Forecast' }).click();
    await page.getByText(/It will rain in .*Bern.*3/).waitFor();
    const listed = await fetch(`${server.url}/agents/weather/tasks?historyLength=1`);
    expect(await listed.json()).toMatchObject({ tasks: [{ history: [{ metadata: { skillId: 'forecast' } }] }] });
    const card = { name: 'Odd', description: '', version: '1', url: 'http://10.1.1.1/', capabilities: {}, skills: [] };
    const odd = createServer((_, outgoing) => outgoing.setHeader('Content-Type', 'application/json').end(JSON.stringify(card)));
    await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', () => resolve()));
    const { port } = odd.address() as { port: number };
    await page.goto('/console/agents');
    await page.getByLabel('Address').fill(`http://127.0.0.1:${port}`);
    await page.getByRole('button', { name: 'Check agent' }).click();
    await page.getByText('http://10.1.1.1/ is not encrypted').waitFor();
    await page.getByText('interface-plain').waitFor();
    odd.close();
  });

  it('shows failed webhooks, and retries dead letters', async () => {
    const { page } = watched;
    await page.goto('/console/push');
    await page.getByText('All deliveries are complete').waitFor();
    const hook = createServer((_, outgoing) => outgoing.writeHead(410).end());
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', () => resolve()));
    const { port } = hook.address() as { port: number };
    const id = await send('script', 'chunks=2', { taskPushNotificationConfig: { url: `http://127.0.0.1:${port}/hook` } });
    await page.getByRole('heading', { name: 'Dead letters' }).waitFor();
    await page.getByLabel('Task id').fill(id);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.locator('.configs li').getByText('/hook').waitFor();
    await checked('push');
    hook.close();
    await page.getByRole('button', { name: 'Send again' }).first().click();
    await page.getByText('The delivery is retried.').waitFor();
  });

  it('plots the health of the node and shows its log', async () => {
    const { page } = watched;
    await page.goto('/console/health');
    await page.getByRole('img', { name: /^Calls: now/ }).waitFor();
    await send('script', 'crash');
    await page.locator('.log .level').getByText('error').first().waitFor();
    await page.waitForTimeout(3500);
    await checked('health');
    await page.goto('/console/mesh');
    await page.getByText('This node is not connected to a mesh').waitFor();
    await page.getByText('parley serve demo --mesh mqtt://').waitFor();
    await checked('mesh-none');
  });

  it('works by keyboard', async () => {
    const { page } = watched;
    await page.goto('/console/tasks');
    await page.getByRole('list', { name: 'Tasks' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.waitForURL(/\/health$/);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Go to/ }).fill('chat with echo');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/chat\/echo/);
    await page.keyboard.press('Escape');
    await page.locator('main').focus();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto('/console/nowhere');
    await page.getByText('Page not found').waitFor();
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
