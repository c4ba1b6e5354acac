import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDemo } from '../../src/agents/built-in/demo.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

suiteNeeding('chromium', CHROMIUM !== undefined, 'the home page and the list of tasks', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    server = await startServer({ agents: [createDemo({ wordMs: 1 }), builtIn('script'), builtIn('echo')], console: createConsole() });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const send = async (agent: string, text: string): Promise<void> => {
    const body = sendBody(text, { configuration: { returnImmediately: text.includes('sleep') } });
    await (await fetch(jsonRequest(`${server.url}/agents/${agent}/message:send`, body))).text();
  };
  const rows = () => watched.page.getByRole('list', { name: 'Tasks' }).getByRole('link');
  const section = (name: string) => watched.page.getByRole('region', { name });

  it('tells what the node does now', async () => {
    const { page, picture } = watched;
    await page.goto('/');
    await page.waitForURL(/\/console\/home$/);
    await section('Running').getByText('Nothing runs at the moment.').waitFor();
    await send('demo', 'approve it');
    await send('script', 'fail at once');
    await send('script', 'sleep=600000');
    await section('Questions for you')
      .getByRole('link', { name: /May I make a file/ })
      .waitFor();
    await section('Running').getByRole('link', { name: 'sleep=600000' }).waitFor();
    await section('Failures').getByRole('link', { name: 'fail at once' }).waitFor();
    await section('Failures').getByText('The message asked me to fail.').waitFor();
    await section('Recent conversations')
      .getByRole('link', { name: /approve it.*needs input/s })
      .waitFor();
    await page.getByRole('list', { name: 'Now' }).getByRole('link', { name: 'Waiting for a person 1' }).waitFor();
    await picture('home');
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Take the tour' }).click();
    await page.waitForURL(/\/tour$/);
  });

  it('begins with the tour on a node with nothing but the demo', async () => {
    const only = await startServer({ agents: [createDemo()], console: createConsole() });
    const { page } = await openPage(browser, only.url);
    await page.goto('/');
    await page.waitForURL(/\/console\/tour$/);
    await page.context().close();
    await only.close();
  });

  it('lists tasks by their first words, and moves by keys', async () => {
    const { page, picture } = watched;
    await send('echo', 'one');
    await send('echo', 'two');
    await page.goto('/console/tasks?agent=echo');
    await expect.poll(() => rows().count()).toBe(2);
    await rows().filter({ hasText: 'one' }).getByText('echo').waitFor();
    await picture('tasks-words');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    const second = await rows().nth(1).getAttribute('href');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe(second);
    await page.keyboard.press('x');
    await page.getByRole('toolbar', { name: 'Selected tasks' }).getByText('1 selected').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === second);
    await page.getByRole('heading', { name: /one|two/ }).waitFor();
  });

  it('cancels, retries and deletes several tasks at once', async () => {
    const { page } = watched;
    const bar = page.getByRole('toolbar', { name: 'Selected tasks' });
    await send('script', 'sleep=500000');
    await page.goto('/console/tasks?status=TASK_STATE_WORKING');
    await page.getByLabel('Select sleep=500000').check();
    await bar.getByRole('button', { name: 'Cancel 1' }).click();
    await page.getByText('Canceled: 1').waitFor();
    await page.goto('/console/tasks?agent=echo');
    await expect.poll(() => rows().count()).toBe(2);
    await page.getByLabel('Select all that are loaded').check();
    // A slow node: the bar says how far it is, and can't be used twice.
    await page.route(/:retry$/, async (route) => {
      await expect.poll(() => bar.getByText(/^Sent again: [01] of 2 …$/).count()).toBe(1);
      expect(await bar.getByRole('button', { name: 'Retry 2' }).isDisabled()).toBe(true);
      await route.continue();
    });
    await bar.getByRole('button', { name: 'Retry 2' }).click();
    await page.getByText('Sent again: 2').waitFor();
    await expect.poll(() => rows().count()).toBe(4);
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByLabel('Select all that are loaded').check();
    await bar.getByRole('button', { name: 'Delete 4' }).click();
    await bar.getByRole('button', { name: 'Delete 4 for good' }).click();
    await page.getByText('No matching tasks').waitFor();
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
