import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '#server';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

suiteNeeding('chromium', CHROMIUM !== undefined, 'the health page of the console', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    const log = createLog({ write: () => {} });
    server = await startServer({ agents: [builtIn('script'), builtIn('echo')], console: createConsole(), log });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const send = async (text: string): Promise<string> => {
    const response = await fetch(jsonRequest(`${server.url}/agents/script/message:send`, sendBody(text)));
    return ((await response.json()) as { task: { id: string } }).task.id;
  };
  const plot = (title: string) => watched.page.getByRole('figure').filter({ hasText: title });

  it('has a value axis and a time axis on every plot', async () => {
    const { page } = watched;
    await page.goto('/console/health');
    await page.getByRole('img', { name: /^Calls: now/ }).waitFor();
    const plots = await page.getByRole('figure').count();
    expect(plots).toBeGreaterThanOrEqual(10);
    await plot('Running tasks').locator('.plot-mark').getByText('2', { exact: true }).waitFor();
    expect(await page.locator('.plot-times').getByText('now', { exact: true }).count()).toBe(plots);
    await expect.poll(() => plot('Memory').locator('.plot-times').innerText()).toMatch(/ago/);
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('counts no failed call when the page of an agent checks its interfaces', async () => {
    const { page } = watched;
    const checked = await page.context().newPage();
    await checked.goto(`${server.url}/console/agents/echo`);
    await checked
      .getByRole('cell', { name: /^answers/ })
      .first()
      .waitFor();
    await expect.poll(() => checked.getByRole('region', { name: 'Check' }).getAttribute('aria-busy')).toBe('false');
    await checked.close();
    await page.reload();
    await page.getByRole('img', { name: /^Failed calls: now 0,/ }).waitFor();
    await send('fail');
    await page.getByRole('img', { name: /^Failed calls: now 1,/ }).waitFor();
  });

  it('links each log line about a task to the task, and shows the lines of one task', async () => {
    const { page } = watched;
    const id = await send('crash');
    const other = await send('crash');
    await page.goto('/console/health');
    const lines = page.getByRole('region', { name: 'Log' }).getByRole('listitem');
    const linkTo = (task: string) => page.getByRole('region', { name: 'Log' }).locator(`a[href$="/tasks/${task}"]`);
    await linkTo(id).first().waitFor();
    await linkTo(other).first().waitFor();
    await lines
      .filter({ hasText: 'agent script failed' })
      .first()
      .getByText('the message asked script to crash', { exact: true })
      .waitFor();
    await page.goto(`/console/health?task=${id}`);
    await page.getByText('Only lines about the task').waitFor();
    await lines.first().waitFor();
    expect(await linkTo(other).count()).toBe(0);
    await lines.first().getByRole('link', { name: 'Open the task' }).click();
    await page.waitForURL(new RegExp(`/tasks/${id}$`));
    await page.getByRole('heading', { name: /crash/ }).waitFor();
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
