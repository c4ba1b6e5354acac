import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

const coder = defineAgent({
  name: 'coder',
  description: 'Writes code.',
  run: () => 'Here it is:\n\n```ts\nconst total = sum(2, "two"); // done\n```\n',
});

suiteNeeding('chromium', CHROMIUM !== undefined, 'what the console marks', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    server = await startServer({ agents: [coder, builtIn('echo')], console: createConsole() });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('colours code, and the copy has no marks', async () => {
    const { page } = watched;
    await page.goto('/console/chat/coder');
    await page.getByRole('textbox', { name: /Message to/ }).fill('code, please');
    await page.keyboard.press('Enter');
    const code = page.locator('.by-agent pre code');
    await code.locator('.tok-keyword').getByText('const').waitFor();
    await code.locator('.tok-comment').getByText('// done').waitFor();
    expect(await code.textContent()).toBe('const total = sum(2, "two"); // done\n');
    expect(await code.getAttribute('title')).toBeNull();
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('marks what differs between two dialects, and calls 1.0 not lossy for a field of a draft', async () => {
    const { page } = watched;
    const response = await fetch(jsonRequest(`${server.url}/agents/echo/message:send`, sendBody('hi')));
    const { task } = (await response.json()) as { task: { id: string } };
    await page.goto(`/console/wire/rosetta?task=${task.id}`);
    const dialects = page.getByRole('list', { name: 'Dialects' });
    const one = dialects.getByRole('listitem').filter({ has: page.getByRole('heading', { name: /1\.0/ }) });
    await one.first().getByText('nothing lost').waitFor();
    await page.getByLabel('First dialect').selectOption('v10');
    await page.getByLabel('Second dialect').selectOption('v03');
    await dialects.locator('.marked').getByText('"completed"').waitFor();
    expect(await dialects.locator(':scope > li').count()).toBe(2);
    await watched.picture('rosetta-two');
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByLabel('The card of an agent').selectOption('echo');
    await page.waitForURL(/rosetta\?agent=echo$/);
    await page.getByRole('region', { name: 'JSON of A2A 1.0' }).getByText('"echo"').first().waitFor();
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
