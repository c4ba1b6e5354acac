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

interface Sent {
  readonly id: string;
  readonly contextId: string;
}

suiteNeeding('chromium', CHROMIUM !== undefined, 'the console in use', () => {
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

  const send = async (agent: string, text: string, more: object = {}): Promise<Sent> => {
    const message = { ...(sendBody(text)['message'] as object), ...more };
    const response = await fetch(jsonRequest(`${server.url}/agents/${agent}/message:send`, { message }));
    return ((await response.json()) as { task: Sent }).task;
  };
  const conversation = (words: string) => watched.page.getByRole('list', { name: 'All conversations' }).getByRole('link', { name: words });

  it('keeps the search above the conversations when they are scrolled', async () => {
    const { page } = watched;
    for (let at = 1; at <= 14; at += 1) await send('echo', `conversation ${at}`);
    await page.goto('/console/chat');
    await conversation('conversation 14').waitFor();
    const isCovered = await page.evaluate(() => {
      const list = document.querySelector('.conversations');
      const search = document.querySelector('.conversations input');
      if (list === null || search === null) return 'absent';
      list.scrollTop = 150;
      const { left, top, width, height } = search.getBoundingClientRect();
      // The names and the pens of the conversations pass below it.
      return [0.1, 0.5, 0.93].some((part) => document.elementFromPoint(left + width * part, top + height / 2) !== search);
    });
    expect(isCovered).toBe(false);
  });

  it('deletes a conversation with all its tasks, after a question', async () => {
    const { page } = watched;
    const { contextId } = await send('echo', 'to be forgotten');
    await send('echo', 'and this too', { contextId });
    await page.goto(`/console/chat/echo?with=${contextId}`);
    await page.locator('.by-user').getByText('and this too').waitFor();
    await page.locator('.chat-head').getByText('More').click();
    await page.getByRole('button', { name: 'Delete' }).click();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByText('Conversation deleted.').waitFor();
    await expect.poll(() => conversation('to be forgotten').count()).toBe(0);
    const left = await fetch(`${server.url}/api/parley/v1/tasks?contextId=${contextId}`);
    expect(((await left.json()) as { tasks: readonly unknown[] }).tasks).toEqual([]);
  });

  it('finds conversations with Ctrl+K, and searches the tasks for any other words', async () => {
    const { page } = watched;
    const { contextId } = await send('echo', 'the harvest of plums');
    await page.goto('/console/health');
    await page.getByRole('heading', { name: 'Log' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('plums');
    await page.getByRole('option', { name: 'Conversation with echo: the harvest of plums' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('with') === contextId);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('words of nobody');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === '/console/tasks' && url.searchParams.get('q') === 'words of nobody');
  });

  it('returns with Back to the row of the task, so that the keys continue there', async () => {
    const { page } = watched;
    const { id } = await send('echo', 'the row to return to');
    await send('echo', 'a newer one');
    await page.goto('/console/tasks');
    const row = page.locator(`.task-row a[href$="${id}"]`);
    await row.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'the row to return to' }).waitFor();
    await page.goBack();
    await expect.poll(() => row.evaluate((element) => element === document.activeElement).catch(() => false)).toBe(true);
    await page.reload();
    await row.waitFor();
    expect(await row.evaluate((element) => element === document.activeElement)).toBe(false);
  });

  it('finds a task by its id, also one that is not in the loaded part of the list', async () => {
    const { page } = watched;
    const { id } = await send('echo', 'known by its id');
    await page.route(/\/api\/parley\/v1\/tasks\?/, (route) => route.fulfill({ json: { tasks: [], nextPageToken: '', totalSize: 20_000 } }));
    await page.goto(`/console/tasks?q=${id}`);
    await page.locator(`.task-row a[href$="${id}"]`).waitFor();
    await page.getByText('names among the newest 10,000').waitFor();
    await page.unroute(/\/api\/parley\/v1\/tasks\?/);
  });

  it('says in words what each frame of a stream is', async () => {
    const { page } = watched;
    await page.goto('/console/chat/script');
    await page.getByRole('textbox', { name: /Message to/ }).fill('chunks=2');
    await page.keyboard.press('Enter');
    await page.locator('.by-agent').getByText('completed').waitFor();
    await page.goto('/console/wire');
    await page.getByRole('button', { name: 'SendStreamingMessage' }).first().click();
    const frames = page.getByRole('list', { name: 'Frames' });
    await frames.getByText('artifact “chunk 1').waitFor();
    await frames.getByText('completed:').waitFor();
    await page.goto('/console/chat/script');
    await page.getByRole('textbox', { name: /Message to/ }).fill('chunks=230');
    await page.keyboard.press('Enter');
    await page.locator('.by-agent').getByText('completed').waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Wire' }).click();
    await page.getByRole('button', { name: 'SendStreamingMessage' }).first().click();
    expect(await frames.getByText('completed:').count()).toBe(0);
    await frames.getByRole('button', { name: 'Show more of 232 frames' }).click();
    await frames.getByText('completed:').waitFor();
  });

  it('says the same about an interface in the check and in the table', async () => {
    const { page } = watched;
    await page.goto('/console/agents/echo');
    const grpc = page.locator('.interfaces tr', { hasText: 'GRPC' });
    await grpc.getByText('answers').waitFor();
    await page.getByRole('region', { name: 'Check' }).getByText('GRPC 1.0 at').getByText('answers').waitFor();
  });

  it('names a task and its conversation after the data of a form', async () => {
    const { page } = watched;
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ data: { season: 'spring', year: 2026 } }] };
    const response = await fetch(jsonRequest(`${server.url}/agents/echo/message:send`, { message }));
    const { task } = (await response.json()) as { task: Sent };
    await page.goto(`/console/chat/echo?with=${task.contextId}`);
    await page.locator('.chat-head').getByRole('heading', { name: 'season: spring, year: 2026' }).waitFor();
    await page.goto('/console/tasks');
    await page.getByRole('list', { name: 'Tasks' }).getByText('season: spring, year: 2026').click();
    await page.getByRole('heading', { name: 'season: spring, year: 2026' }).waitFor();
  });

  it('names the event at which the replay stands', async () => {
    const { page } = watched;
    const { id } = await send('demo', 'approve');
    await page.goto(`/console/tasks/${id}`);
    await page.locator('.replay input').focus();
    await page.keyboard.press('Home');
    await page.getByRole('region', { name: 'Replay' }).getByText('After event 1 of 2').getByText('created, working').waitFor();
  });

  it('leads from a new conversation back to the list on a phone', async () => {
    const phone = await openPage(browser, server.url, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await phone.page.goto('/console/chat/echo');
    await phone.page.getByRole('link', { name: 'All conversations' }).click();
    await phone.page.getByRole('link', { name: 'New conversation' }).waitFor();
    await phone.page.context().close();
  });

  it('shows an old conversation with its words, its name and its menu', async () => {
    const { page } = watched;
    const { contextId } = await send('echo', 'the oldest of all');
    for (let at = 1; at <= 51; at += 1) await send('echo', `a newer conversation ${at}`);
    await page.goto(`/console/chat/echo?with=${contextId}`);
    const head = page.locator('.chat-head');
    await head.getByRole('heading', { name: 'the oldest of all' }).waitFor();
    await head.getByText('More').waitFor();
    expect(await conversation('the oldest of all').count()).toBe(1);
    await expect.poll(() => page.title()).toMatch(/^(?:\(\d+\) )?echo: the oldest of all · Chat · Parley$/);
    const phone = await openPage(browser, server.url, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await phone.page.goto(`/console/chat/echo?with=${contextId}`);
    await phone.page.locator('.chat-head').getByRole('heading', { name: 'the oldest of all' }).waitFor();
    await phone.page.context().close();
  });

  it('shows in an open chat what happened elsewhere: an answer on Approvals, and a message of another client', async () => {
    const { page } = watched;
    await page.goto('/console/chat/demo');
    await page.getByRole('textbox', { name: /Message to/ }).fill('approve');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Yes, make it' }).waitFor();
    await page.waitForURL(/with=[\w-]{30,}/);
    const contextId = new URL(page.url()).searchParams.get('with');
    await expect.poll(() => page.title()).toMatch(/^\(\d+\) demo: approve · Chat · Parley$/); // the question is in the title
    const task = (await page.getByRole('link', { name: 'Open the task' }).getAttribute('href')) ?? '';
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Approvals' }).click();
    const asked = page.getByRole('article', { name: 'demo asks' }).filter({ has: page.locator(`a[href="${task}"]`) });
    await asked.getByRole('button', { name: 'Yes, make it' }).click();
    await page.getByText('Answered.').waitFor();
    await page.goBack();
    await page.locator('.by-agent').getByText('Answered: Yes, make it').waitFor();
    await page.locator('.by-agent').getByText('Thank you.').waitFor();
    expect(await page.getByRole('button', { name: 'Yes, make it' }).count()).toBe(0);
    await page.getByRole('textbox', { name: /Message to/ }).fill('half of a message');
    await send('demo', 'stream', { contextId });
    await page.locator('.by-agent').last().getByText('They called it a parley').waitFor();
    expect(await page.locator('.by-user').last().textContent()).toContain('stream');
    expect(await page.getByRole('textbox', { name: /Message to/ }).inputValue()).toBe('half of a message');
  });

  it('shows calls over gRPC-Web in words, with how they ended', async () => {
    const { page } = watched;
    await page.goto('/console/agents/echo');
    await page.locator('.interfaces tr', { hasText: 'GRPC' }).getByText('answers').waitFor();
    await page.goto('/console/wire');
    const requests = page.getByRole('list', { name: 'Requests, newest first' });
    await requests
      .getByRole('button', { name: /NOT_FOUND.*gRPC lf\.a2a\.v1 GetTask/s })
      .first()
      .click();
    const exchange = page.getByRole('region', { name: 'Exchange' });
    await exchange.getByText(/^a protobuf message of \d+ bytes$/).waitFor();
    await exchange.getByText('grpc-message: there is no task').waitFor();
    await exchange.getByText('gRPC NOT_FOUND').waitFor();
  });

  it('begins what a search found at a word, and keeps a very long artifact in a box', async () => {
    const { page } = watched;
    const { id } = await send('echo', `The parcel number seventeen of the marmalade. ${'It is late. '.repeat(800)}`);
    await page.goto('/console/tasks?q=marmalade');
    const found = page.getByRole('list', { name: 'Tasks' }).locator('.t-words');
    await found.locator('mark', { hasText: 'marmalade' }).waitFor();
    expect(await found.textContent()).toMatch(/^…(?:seventeen )?of the marmalade\. It is late/);
    await page.locator('.task-head').getByText('Where it was found').waitFor();
    await page.goto(`/console/tasks/${id}`);
    const box = page.locator('.artifact-long').first();
    await box.waitFor();
    expect(await box.evaluate((node) => [node.clientHeight < innerHeight, node.scrollHeight > node.clientHeight])).toEqual([true, true]);
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
