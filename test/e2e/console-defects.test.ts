import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDemo } from '../../src/agents/built-in/demo.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

suiteNeeding('chromium', CHROMIUM !== undefined, 'what the console says about the node', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    server = await startServer({ agents: [createDemo({ wordMs: 1 }), builtIn('script')], console: createConsole() });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const send = async (agent: string, text: string): Promise<string> => {
    const response = await fetch(jsonRequest(`${server.url}/agents/${agent}/message:send`, sendBody(text)));
    return ((await response.json()) as { task: { id: string } }).task.id;
  };

  it('counts waiting and failed tasks on the health page as the other pages do', async () => {
    const { page } = watched;
    await send('demo', 'approve');
    await send('script', 'fail');
    await page.goto('/console/health');
    await page.locator('nav .bubble').getByText('1').waitFor();
    await page.getByRole('img', { name: /^Waiting for a person: now 1,/ }).waitFor();
    await page.getByRole('img', { name: /^Failed or rejected tasks: now 1,/ }).waitFor();
  });

  it('states no partial figures of a long task, and cuts none off', async () => {
    const { page } = watched;
    const id = await send('script', 'chunks=2500 size=8');
    let isHeld = true;
    await page.route(/events\?after=1000/, async (route) => {
      while (isHeld) await new Promise((resolve) => setTimeout(resolve, 50));
      await route.continue();
    });
    await page.goto(`/console/tasks/${id}`);
    await page.getByText('Reading the log: 1,000 of 2,502 events').waitFor();
    const facts = page.locator('.facts');
    await facts.getByText('2,502 events').waitFor();
    expect(await facts.getByText(/^0 ms$/).count()).toBe(0);
    expect(await page.getByText(/All 1,?000 events/).count()).toBe(0);
    isHeld = false;
    await page.getByText('All 2,502 events').waitFor();
    const isCut = await page.evaluate(() =>
      [...document.querySelectorAll('.facts dd, .event .dim')].some((node) => node.scrollWidth > node.clientWidth + 1),
    );
    expect(isCut).toBe(false);
  });

  it('leaves no focus line after keys', async () => {
    const { page } = watched;
    await page.goto('/console/health');
    await page.getByRole('heading', { name: 'Health' }).click();
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.waitForURL(/\/tasks$/);
    await page.getByRole('list', { name: 'Tasks' }).waitFor();
    const outlines = await page.evaluate(() =>
      [...document.querySelectorAll('*')].filter((node) => getComputedStyle(node).outlineStyle !== 'none').map((node) => node.tagName),
    );
    expect(outlines).toEqual([]);
  });

  it('keeps the requests of this console over a reload, until they are cleared', async () => {
    const { page } = watched;
    await page.goto('/console/chat/script');
    await page.getByRole('textbox', { name: /Message to/ }).fill('chunks=2');
    await page.keyboard.press('Enter');
    await page.locator('.by-agent').getByText('completed').waitFor();
    await page.goto('/console/wire');
    const requests = page.getByRole('list', { name: 'Requests, newest first' });
    await requests.getByText('SendStreamingMessage').waitFor();
    await page.reload();
    await requests.getByText('SendStreamingMessage').waitFor();
    await page.getByRole('list', { name: 'Frames' }).getByText('completed:').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('No requests yet').waitFor();
    await page.reload();
    await page.getByText('No requests yet').waitFor();
  });

  it('shows the number of approvals on a phone, and keeps buttons away from text', async () => {
    const phone = await openPage(browser, server.url, { viewport: { width: 390, height: 844 } });
    await phone.page.goto('/console/approvals');
    await phone.page.locator('.menu .bubble').getByText('1').waitFor();
    const text = await phone.page.locator('.approval .md').first().boundingBox();
    const button = await phone.page.getByRole('button', { name: 'Yes, make it' }).boundingBox();
    expect((button?.y ?? 0) - (text?.y ?? 0) - (text?.height ?? 0)).toBeGreaterThanOrEqual(8);
    await phone.page.context().close();
  });

  it('opens no keyboard on a touch screen until the reader asks for it', async () => {
    const touch = await openPage(browser, server.url, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await touch.page.goto('/console/chat/script');
    const box = touch.page.getByRole('textbox', { name: /Message to/ });
    await box.waitFor();
    expect(await box.evaluate((node) => document.activeElement === node)).toBe(false);
    await touch.page.context().close();
    await watched.page.goto('/console/chat/script');
    await expect.poll(() => watched.page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
