import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDemo } from '../../src/agents/built-in/demo.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, startServer } from '../support/server.ts';

suiteNeeding('chromium', CHROMIUM !== undefined, 'the tour of the console', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    server = await startServer({ agents: [createDemo({ wordMs: 15, stepMs: 200 })], console: createConsole() });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const step = (title: string) => watched.page.locator('.tour-step').filter({ has: watched.page.getByRole('heading', { name: title }) });
  const show = (title: string) => step(title).getByRole('button', { name: /^Run/ }).click();

  it('streams an answer', async () => {
    await watched.page.goto('/');
    await show('A streamed answer');
    await step('A streamed answer').getByText('They called it a parley').waitFor();
    await watched.picture('tour-stream');
    await step('A streamed answer').getByText('completed').waitFor();
  });

  it('asks for an approval and accepts it', async () => {
    await show('An approval');
    await step('An approval').getByRole('button', { name: 'Yes, make it' }).click();
    await step('An approval').getByText('Thank you.').waitFor();
  });

  it('makes a file', async () => {
    await show('A file');
    await step('A file').getByRole('link', { name: 'hello.md' }).waitFor();
  });

  it('loses nothing when the stream is cut', async () => {
    await show('A cut stream that resumes');
    const cut = step('A cut stream that resumes');
    await cut.getByText(/Cut after \d+ frames/).waitFor();
    await cut.getByText(/Resumed after event [1-9]/).waitFor();
    await cut.getByText(/none lost, none repeated/).waitFor();
  });

  it('shows the same task in eight dialects', async () => {
    await show('The same task in eight dialects');
    const eight = step('The same task in eight dialects');
    await eight.locator('summary').first().waitFor();
    expect(await eight.locator('.eight > li > details > summary .badge').allTextContents()).toEqual(Array(8).fill('200'));
    await watched.page.getByRole('link', { name: /Side by side/ }).scrollIntoViewIfNeeded();
    await watched.picture('tour-end');
    expect(await seriousFaults(watched.page)).toEqual([]);
    await watched.page.getByRole('link', { name: /Side by side/ }).click();
    await watched.page.getByRole('list', { name: 'Dialects' }).waitFor();
    await watched.picture('wire-rosetta-task');
  });

  it('explains what to do when the demo agent is not served', async () => {
    const other = await startServer({ agents: [builtIn('echo')], console: createConsole() });
    const page = await openPage(browser, other.url);
    await page.page.goto('/console/tour');
    await page.page.getByText('parley serve demo').waitFor();
    await page.page.close();
    await other.close();
    expect([...watched.wrongs, ...page.wrongs]).toEqual([]);
  });
});
