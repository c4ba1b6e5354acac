import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConsole, createDocs } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';
import { builtIn, startServer } from '../support/server.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/docs-site.mjs', import.meta.url));
const PHONE = { width: 390, height: 800 };

suiteNeeding('chromium', CHROMIUM !== undefined, 'the documentation site', () => {
  let server: NodeServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await startServer({ agents: [builtIn('echo')], console: createConsole(), docs: createDocs() });
    // The first request builds the pages, which can take longer than a browser test waits.
    for (const path of ['/console/', '/docs/']) expect((await fetch(`${server.url}${path}`)).status).toBe(200);
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('is linked from the console, and finds a section by its words', async () => {
    const { page, wrongs, picture } = await openPage(browser, server.url);
    await page.goto('/console/tasks');
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.getByRole('heading', { name: 'Documentation' }).waitFor();
    await page.keyboard.press('/');
    const box = page.getByRole('combobox', { name: 'Search the documentation' });
    await box.fill('conversation');
    const found = page.getByRole('option');
    await page
      .getByRole('option', { name: /^Remember a conversation/ })
      .first()
      .waitFor();
    expect(await found.first().getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowDown');
    expect(await found.nth(1).getAttribute('aria-selected')).toBe('true');
    expect(await seriousFaults(page)).toEqual([]);
    await picture('docs-search');
    await box.fill('<b>nothing</b> has this');
    await page.getByText('No page has <b>nothing</b> has this.').waitFor();
    await box.fill('accepted host names');
    await found.first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/docs\/(?:config|security)\.html/);
    expect(await seriousFaults(page)).toEqual([]);
    expect(wrongs).toEqual([]);
  });

  it('is readable on a phone, in light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, wrongs, picture } = await openPage(browser, server.url, { viewport: PHONE, colorScheme });
      for (const path of ['index.html', 'guides/serve-a-function.html', 'config.html', 'dialects.html', 'console.html']) {
        await page.goto(`/docs/${path}`);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect([path, width]).toEqual([path, PHONE.width]);
      }
      expect(await seriousFaults(page)).toEqual([]);
      await picture(`docs-phone-${colorScheme}`);
      expect(wrongs).toEqual([]);
    }
  });

  it('works without a server, search included', async () => {
    const folder = join(scratchFolder(), 'site');
    execFileSync(process.execPath, [SCRIPT, '--to', folder], { stdio: 'pipe' });
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(pathToFileURL(join(folder, 'guides/approvals.html')).href);
    await page.getByRole('combobox').fill('nginx');
    await page.getByRole('option', { name: /nginx/ }).first().click();
    await page.getByRole('heading', { name: /nginx/, level: 1 }).waitFor();
  });
});
