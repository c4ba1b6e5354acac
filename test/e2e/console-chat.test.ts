import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDemo } from '../../src/agents/built-in/demo.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { Served } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, startServer } from '../support/server.ts';

suiteNeeding('chromium', CHROMIUM !== undefined, 'the chats of the console', () => {
  let server: Served;
  let elsewhere: Served;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    const agents = [createDemo({ wordMs: 5, stepMs: 300 }), builtIn('echo'), builtIn('script')];
    server = await startServer({ agents, console: createConsole() });
    elsewhere = await startServer({ agents: [builtIn('echo')] });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await elsewhere?.close();
  });

  const say = async (text: string): Promise<void> => {
    const { page } = watched;
    await page.getByRole('textbox', { name: /Message to/ }).fill(text);
    await page.keyboard.press('Enter');
  };
  const lastAnswer = () => watched.page.locator('.by-agent').last();

  it('opens at the address of the node and lists its agents', async () => {
    const { page, picture } = watched;
    await page.goto('/');
    await page.waitForURL(/\/console\/tour$/);
    await page.goto('/console/chat');
    await page.getByRole('button', { name: /echo/ }).waitFor();
    await picture('chat-choose');
    expect(await seriousFaults(page)).toEqual([]);
  }, 60_000);

  it('streams an answer as markdown', async () => {
    const { page, picture } = watched;
    await page.getByRole('button', { name: /^demo/ }).click();
    await page.waitForURL(/\/console\/chat\/demo/);
    await say('stream');
    await lastAnswer().getByText('They called it a parley').waitFor();
    await lastAnswer().getByText('completed').waitFor();
    await picture('chat-stream');
    await say('hello');
    await lastAnswer().getByText('Try one of these words').waitFor();
  }, 60_000);

  it('asks, and takes an answer by a button', async () => {
    const { page, picture } = watched;
    await say('approve');
    await page.getByRole('button', { name: 'Yes, make it' }).waitFor();
    await picture('chat-question');
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Yes, make it' }).click();
    await lastAnswer().getByText('Thank you.').waitFor();
    await lastAnswer().getByRole('link', { name: 'approved.md' }).waitFor();
    expect(await page.getByRole('button', { name: 'Yes, make it' }).count()).toBe(0);
  }, 60_000);

  it('shows data as a tree and files that can be kept', async () => {
    const { page, picture } = watched;
    await say('data');
    await lastAnswer().locator('.tree').getByText('principal').waitFor();
    await say('file');
    const [download] = await Promise.all([page.waitForEvent('download'), lastAnswer().getByRole('link', { name: 'hello.md' }).click()]);
    expect(download.suggestedFilename()).toBe('hello.md');
    await picture('chat-file');
  }, 60_000);

  it('folds the steps and cancels', async () => {
    await say('slow');
    await lastAnswer()
      .locator('.step-now')
      .getByText(/Step \d of 10/)
      .waitFor();
    await watched.picture('chat-steps');
    await watched.page.getByRole('button', { name: 'Cancel' }).click();
    await lastAnswer().getByText('canceled', { exact: true }).waitFor();
  }, 60_000);

  it('sends files and shows pictures, in a second chat beside the first', async () => {
    const { page, picture } = watched;
    await page.goto('/console/chat/echo');
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    await page.getByLabel('Attach files').last().setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png });
    await say('look at this');
    await lastAnswer().getByRole('img', { name: 'dot.png' }).waitFor();
    await page.getByRole('link', { name: '+ New chat' }).click();
    await page.getByRole('button', { name: /^script/ }).click();
    await say('auth');
    await lastAnswer().getByText('needs auth').waitFor();
    await say('ask');
    await picture('chat-several');
    expect(await page.getByRole('navigation', { name: 'Open chats' }).getByRole('link').count()).toBe(3);
  }, 60_000);

  it('talks to an agent at another address, through the node', async () => {
    const { page, picture } = watched;
    await page.goto('/console/chat');
    await page.getByLabel('Address').fill('nonsense://x');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByLabel('Address').fill(elsewhere.url);
    await page.getByRole('button', { name: 'Connect' }).click();
    await say('who is there');
    await lastAnswer().getByText('completed').waitFor();
    await picture('chat-elsewhere');
    await page.goto('/console/chat');
    await page.getByLabel('Address').fill('http://127.0.0.1:1');
    await page.getByRole('button', { name: 'Connect' }).click();
    await say('anybody');
    await lastAnswer().getByRole('alert').waitFor();
  }, 60_000);

  it('broke no rule on the way', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
