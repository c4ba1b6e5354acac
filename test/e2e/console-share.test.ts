import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, startServer } from '../support/server.ts';

suiteNeeding('chromium', CHROMIUM !== undefined, 'shared files and usage', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  let file = '';
  beforeAll(async () => {
    server = await startServer({ agents: [builtIn('script'), builtIn('echo')], console: createConsole() });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    if (file !== '') rmSync(dirname(file), { recursive: true, force: true });
  });

  const send = async (agent: string, parts: readonly object[], contextId?: string): Promise<{ id: string; contextId: string }> => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts, ...(contextId === undefined ? {} : { contextId }) };
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${server.url}/agents/${agent}/message:send`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ message }),
    });
    return ((await response.json()) as { task: { id: string; contextId: string } }).task;
  };

  it('exports a conversation as one file without secrets, which opens offline', async () => {
    const { page } = watched;
    const first = await send('echo', [{ text: 'share </script> this' }, { data: { password: 'hunter2' } }]);
    await send('echo', [{ text: 'and the second' }], first.contextId);
    await page.goto(`/console/tasks/${first.id}`);
    const coming = page.waitForEvent('download');
    await page.getByLabel('Share as a file').click();
    await page.getByRole('button', { name: 'The conversation, as HTML' }).click();
    const download = await coming;
    file = join(mkdtempSync(join(tmpdir(), 'parley-shared-')), 'shared.html');
    await download.saveAs(file);
    const html = readFileSync(file, 'utf8');
    expect(html).not.toContain('hunter2');
    expect(html.match(/<\/script>/g)).toHaveLength(1);
    const context = await browser.newContext({ offline: true });
    const alone = await context.newPage();
    await alone.goto(pathToFileURL(file).href);
    await alone.getByRole('heading', { name: 'share </script> this' }).waitFor();
    await alone.getByText('and the second').first().waitFor();
    await alone.getByText('timeline: worked').first().waitFor();
    await context.close();
  });

  it('opens the file again, with the timeline and the replay', async () => {
    const { page } = watched;
    await page.goto('/console/home');
    await page.getByRole('link', { name: 'Open a shared file' }).click();
    await page.getByLabel('File').setInputFiles(file);
    const tasks = page.getByRole('article', { name: 'Shared task of echo' });
    await tasks
      .first()
      .getByRole('button', { name: /turn share/ })
      .waitFor();
    expect(await tasks.count()).toBe(2);
    await tasks.first().getByRole('slider').fill('1');
    await tasks.first().getByText('After event 1 of').waitFor();
    await watched.picture('shared');
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByLabel('File').setInputFiles({ name: 'x.html', mimeType: 'text/html', buffer: Buffer.from('<p>no</p>') });
    await page.getByText('This is not a file that the console exported.').waitFor();
  });

  it('shows skills first and the usage of an agent, and the slowest agents and callers', async () => {
    const { page } = watched;
    await page.goto('/console/agents/echo');
    await page.getByRole('region', { name: 'Usage' }).getByText('95th percentile').waitFor();
    const headings = await page.locator('.agent-card h2').allTextContents();
    expect(headings.slice(0, 2)).toEqual(['Skills', 'Usage']);
    expect(await seriousFaults(page)).toEqual([]);
    await page.goto('/console/health');
    await page.getByRole('table', { name: 'Slowest agents' }).getByRole('link', { name: 'echo' }).waitFor();
    await page.getByRole('table', { name: 'Slowest callers' }).getByRole('link', { name: 'local' }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
