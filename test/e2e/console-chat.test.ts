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

suiteNeeding('chromium', CHROMIUM !== undefined, 'the chats of the console', () => {
  let server: NodeServer;
  let elsewhere: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    const agents = [createDemo({ wordMs: 5, stepMs: 300 }), builtIn('echo'), builtIn('script')];
    server = await startServer({ agents, console: createConsole() });
    elsewhere = await startServer({ agents: [builtIn('echo')] });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
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
    await page.waitForURL(/\/console\/home$/);
    await page.goto('/console/chat');
    await page.getByRole('button', { name: /^echo/ }).waitFor();
    await picture('chat-choose');
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('moves nothing if the person asked for less motion', async () => {
    const seconds = await watched.page.evaluate(() =>
      [...document.querySelectorAll('*')].map((element) => getComputedStyle(element).transitionDuration),
    );
    expect(new Set(seconds)).toEqual(new Set(['0s']));
  });

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
  });

  it('shows a question and sends the answer of a button', async () => {
    const { page, picture } = watched;
    await say('approve');
    await page.getByRole('button', { name: 'Yes, make it' }).waitFor();
    await picture('chat-question');
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Yes, make it' }).press('Enter');
    await lastAnswer().getByText('Thank you.').waitFor();
    // The button is gone. A reader who works by keyboard continues in the message box.
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Message to demo');
    await lastAnswer().getByRole('link', { name: 'approved.md' }).waitFor();
    expect(await page.getByRole('button', { name: 'Yes, make it' }).count()).toBe(0);
  });

  it('shows data as a tree, and files to download', async () => {
    const { page, picture } = watched;
    await say('data');
    await lastAnswer().locator('.tree').getByText('principal').waitFor();
    await say('file');
    const [download] = await Promise.all([page.waitForEvent('download'), lastAnswer().getByRole('link', { name: 'hello.md' }).click()]);
    expect(download.suggestedFilename()).toBe('hello.md');
    await picture('chat-file');
  });

  it('collapses steps and cancels', async () => {
    await say('slow');
    await lastAnswer()
      .locator('.step-now')
      .getByText(/Step \d of 10/)
      .waitFor();
    await watched.picture('chat-steps');
    await watched.page.getByRole('button', { name: 'Stop' }).click();
    await lastAnswer().getByText('canceled', { exact: true }).waitFor();
  });

  it('sends files and shows images, in a second chat', async () => {
    const { page, picture } = watched;
    await page.goto('/console/chat/echo');
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    await page.getByLabel('Attach files').last().setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png });
    await say('look at this');
    await lastAnswer().getByRole('img', { name: 'dot.png' }).waitFor();
    await page.getByRole('link', { name: 'New conversation' }).click();
    await page.getByRole('button', { name: /^script/ }).click();
    await say('auth');
    await lastAnswer().getByText('needs auth').waitFor();
    await say('ask');
    await picture('chat-several');
    expect(await page.getByRole('navigation', { name: 'Open chats' }).getByRole('link').count()).toBe(3);
  });

  it('shows chats side by side, by the address', async () => {
    const { page, picture } = watched;
    await page.getByRole('button', { name: 'Show echo: look at this beside' }).click();
    await expect.poll(() => page.locator('.chat-body').count()).toBe(2);
    expect(page.url()).toMatch(/chat\/script\?with=[\w-]{30,}&beside=[\w-]{30,}/);
    await page.getByRole('textbox', { name: 'Message to echo' }).fill('and now');
    await page.keyboard.press('Enter');
    await page.locator('.chat-body').nth(1).getByText('and now').nth(1).waitFor();
    await picture('chat-beside');
    expect(await seriousFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 375, height: 720 });
    expect(await page.locator('.chat-body:visible').count()).toBe(1);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: /^Close echo/ }).click();
    await expect.poll(() => page.locator('.chat-body').count()).toBe(1);
  });

  it('continues a running task and a waiting task', async () => {
    const { page } = watched;
    const send = async (text: string): Promise<string> => {
      const body = sendBody(text, { configuration: { returnImmediately: true } });
      const response = await fetch(jsonRequest(`${server.url}/agents/script/message:send`, body));
      return ((await response.json()) as { task: { id: string } }).task.id;
    };
    await page.goto(`/console/tasks/${await send('chunks=12 delay=400')}`);
    await page.getByRole('link', { name: 'Open the conversation' }).click();
    await page.locator('.by-user').getByText('chunks=12').waitFor();
    await lastAnswer()
      .getByText(/chunk 12/)
      .waitFor();
    expect((await lastAnswer().textContent())?.match(/chunk 3/g)).toHaveLength(1);
    await lastAnswer().getByText('completed').waitFor();
    await page.goto(`/console/tasks/${await send('ask')}`);
    await page.getByRole('link', { name: 'Open the conversation' }).click();
    await lastAnswer().getByText('needs input').waitFor();
    await say('seven');
    await lastAnswer().getByText('answer: seven').waitFor();
  });

  it('shows a notification for a question while the page is hidden', async () => {
    const hidden = await openPage(browser, server.url);
    await hidden.page.context().grantPermissions(['notifications']);
    await hidden.page.addInitScript(() => {
      const told: string[] = [];
      class Told {
        static readonly permission = 'granted';
        constructor(title: string) {
          told.push(title);
        }
      }
      Object.assign(globalThis, { Notification: Told, told });
      Object.defineProperty(document, 'hidden', { get: () => true });
    });
    await hidden.page.goto('/console/approvals');
    await hidden.page.getByText('Questions of agents. An answer').waitFor();
    const asked = sendBody('approve', { configuration: { returnImmediately: false } });
    await fetch(jsonRequest(`${server.url}/agents/demo/message:send`, asked));
    await expect.poll(() => hidden.page.evaluate('told')).toContain('demo asks for an answer');
    expect(hidden.wrongs).toEqual([]);
    await hidden.page.context().close();
  });

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
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
