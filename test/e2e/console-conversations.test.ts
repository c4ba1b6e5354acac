import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent, status } from '#agents';
import { createDemo } from '../../src/agents/built-in/demo.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, startServer } from '../support/server.ts';

const TEXT = '| one | two |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n- [ ] open\n\n```\nlet it = 1;\n```';

/** Answers with markdown, JSON, a progress note only, or an error. */
const writer = defineAgent({
  name: 'writer',
  description: 'Writes.',
  skills: [{ id: 'write', name: 'Write', description: 'Writes.', tags: [], examples: ['a table', 'json'] }],
  run: async function* (turn) {
    if (turn.text.includes('broken')) throw new Error('the pen is dry');
    if (turn.text.includes('note')) yield status('Sharpening the pencil');
    else yield turn.text.includes('json') ? '{"pens":[1,2]}' : TEXT;
  },
});

suiteNeeding('chromium', CHROMIUM !== undefined, 'the conversations of the console', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    const agents = [createDemo({ wordMs: 1, stepMs: 300 }), builtIn('script'), builtIn('echo'), writer];
    server = await startServer({ agents, console: createConsole(), tellCauses: true });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const say = async (text: string): Promise<void> => {
    const { page } = watched;
    await page.getByRole('textbox', { name: /Message to/ }).fill(text);
    await page.keyboard.press('Enter');
  };
  const lastAnswer = () => watched.page.locator('.by-agent').last();
  const list = () => watched.page.getByRole('list', { name: 'All conversations' });

  it('keeps a conversation over a reload, with its questions and answers', async () => {
    const { page } = watched;
    await page.goto('/console/chat/demo');
    await say('approve');
    await page.getByRole('button', { name: 'Yes, make it' }).click();
    await lastAnswer().getByText('Thank you.').waitFor();
    const isWhole = async (): Promise<void> => {
      const first = page.locator('.by-agent').first();
      await first.getByText('May I make a file named').waitFor();
      await first.getByText('Answered: Yes, make it').waitFor();
      await first.getByText('answered', { exact: true }).waitFor();
      await expect.poll(() => page.getByText('needs input').count()).toBe(0); // the list follows a moment later
      await page.locator('.by-user').last().getByText('Yes, make it', { exact: true }).waitFor();
      await lastAnswer().getByRole('link', { name: 'approved.md' }).waitFor();
    };
    await isWhole();
    await page.waitForURL(/\/chat\/demo\?with=[\w-]{30,}$/);
    const address = page.url();
    await page.reload();
    await isWhole();
    expect(page.url()).toBe(address);
    expect(await seriousFaults(page)).toEqual([]);
    await say('and now words');
    await lastAnswer().getByText('This is message').waitFor();
    expect(await page.locator('.by-user').count()).toBe(3);
  });

  it('lists conversations by their first words, to search and to open', async () => {
    const { page, picture } = watched;
    await page.goto('/console/chat/echo');
    await say('a letter to Ann');
    await lastAnswer().getByText('completed').waitFor();
    const letter = list().getByRole('link', { name: /a letter to Ann/ });
    await letter.getByText('echo').waitFor();
    await list()
      .getByRole('link', { name: /approve.*demo.*2 tasks/s })
      .waitFor();
    await page.getByLabel('Search conversations').fill('letter');
    await expect.poll(() => list().getByRole('link').count()).toBe(1);
    await page.getByLabel('Search conversations').fill('');
    await list()
      .getByRole('link', { name: /approve/ })
      .click();
    await page.getByText('Answered: Yes, make it').waitFor();
    await letter.click();
    await page.locator('.by-user').getByText('a letter to Ann').waitFor();
    await picture('conversations');
  });

  it('renames a conversation in the list and above the chat, for every browser', async () => {
    const { page, picture } = watched;
    const field = page.getByLabel('Name of the conversation');
    const letter = list().getByRole('link', { name: /a letter to Ann/ });
    await letter.focus();
    await page.keyboard.press('F2');
    await field.fill('never');
    await page.keyboard.press('Escape');
    await letter.waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Rename a letter to Ann');
    await page.keyboard.press('Enter');
    await field.fill('Post <b>for</b> Ann');
    await page.keyboard.press('Enter');
    const named = list().getByRole('link', { name: /Post <b>for<\/b> Ann.*a letter to Ann.*echo/s });
    await named.waitFor();
    await page.getByRole('heading', { name: 'Post <b>for</b> Ann' }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await picture('renamed');
    await page.getByLabel('Search conversations').fill('post <b');
    await expect.poll(() => list().getByRole('link').count()).toBe(1);
    const other = await openPage(browser, server.url, { viewport: { width: 390, height: 844 } });
    await other.page.goto(page.url());
    await other.page.getByRole('heading', { name: 'Post <b>for</b> Ann' }).waitFor();
    await other.page
      .locator('.chat-head')
      .getByRole('button', { name: /Rename/ })
      .click();
    await other.page.getByLabel('Name of the conversation').fill(' ');
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('heading', { name: 'a letter to Ann' }).waitFor();
    expect(await seriousFaults(other.page)).toEqual([]);
    expect(other.wrongs).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'a letter to Ann' }).waitFor();
  });

  it('follows a running task after a reload', async () => {
    const { page } = watched;
    await page.goto('/console/chat/script');
    await say('chunks=12 delay=300');
    await lastAnswer().getByText('chunk 2').waitFor();
    await page.waitForURL(/with=/);
    await page.reload();
    await lastAnswer()
      .getByText(/chunk 12/)
      .waitFor();
    await lastAnswer().getByText('completed').waitFor();
    expect((await lastAnswer().textContent())?.match(/chunk 3/g)).toHaveLength(1);
  });

  it('stays at the bottom of a long answer, unless the reader scrolls up', async () => {
    const { page } = watched;
    await page.goto('/console/chat/script');
    const below = (): Promise<number> => page.locator('.transcript').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    await say('chunks=3000 size=40');
    await lastAnswer()
      .getByText(/3,00\d events/)
      .waitFor();
    expect(await page.locator('.transcript').evaluate((box) => box.scrollHeight / box.clientHeight)).toBeGreaterThan(2);
    await expect.poll(below).toBeLessThan(10);
    await page.locator('.transcript').hover();
    await page.mouse.wheel(0, -2000);
    await page.getByRole('button', { name: 'To the newest' }).waitFor();
    await page.getByRole('button', { name: 'To the newest' }).click();
    await expect.poll(below).toBeLessThan(10);
  });

  it('shows tables, task lists, code to copy, and JSON as a tree', async () => {
    const { page } = watched;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/console/chat/writer');
    await page.getByRole('list', { name: 'Examples' }).getByRole('button', { name: 'a table' }).click();
    await lastAnswer().getByRole('cell', { name: '2', exact: true }).waitFor();
    await lastAnswer().getByText('☑ done').waitFor();
    await lastAnswer().locator('.code-box').getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied: code').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('let it = 1;');
    await page.locator('.by-user').getByText('Skill: write').waitFor();
    await say('json');
    await lastAnswer().locator('.tree').getByText('pens').first().waitFor();
  });

  it('shows a progress note as a step, and why something failed', async () => {
    const { page } = watched;
    await say('note only');
    await lastAnswer().getByText('completed').waitFor();
    expect(await lastAnswer().locator('.md').count()).toBe(0);
    await lastAnswer().locator('.step-text').getByText('Sharpening the pencil').waitFor();
    await say('broken');
    await lastAnswer().getByRole('alert').getByText('the pen is dry').waitFor();
    await lastAnswer().getByRole('link', { name: 'Show its log lines' }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  const saidTexts = async () => (await watched.page.locator('.by-user').allTextContents()).map((text) => text.trim());

  it('retries: sends the last message again, with the skill that was chosen', async () => {
    const { page } = watched;
    await page.goto('/console/chat/writer');
    await page.getByRole('list', { name: 'Examples' }).getByRole('button', { name: 'json' }).click();
    await lastAnswer().getByText('completed').waitFor();
    await lastAnswer().getByRole('button', { name: 'Retry' }).click();
    await expect.poll(saidTexts).toEqual(['Skill: writejson', 'Skill: writejson']);
    await expect.poll(() => page.locator('.by-agent').getByText('completed').count()).toBe(2);
    // Only the last answer can be repeated, so that a retry never follows from the middle.
    expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(1);
  });

  it('edits a message and sends it again, in the same conversation', async () => {
    const { page } = watched;
    await say('broken');
    await lastAnswer().getByRole('alert').waitFor();
    const address = page.url();
    await page.locator('.said-row').last().getByRole('button', { name: 'Edit' }).click();
    const box = page.getByRole('textbox', { name: /Message to/ });
    await expect.poll(() => box.inputValue()).toBe('broken');
    await expect.poll(() => box.evaluate((element) => element === document.activeElement)).toBe(true);
    await box.fill('mended');
    await page.keyboard.press('Enter');
    await lastAnswer().getByText('completed').waitFor();
    expect((await saidTexts()).slice(-2)).toEqual(['broken', 'mended']);
    expect(page.url()).toBe(address);
  });

  it('branches: sends a message to another agent, in a conversation of its own', async () => {
    const { page } = watched;
    const before = page.url();
    await page.locator('.said-row').last().getByLabel('Send to another agent').click();
    await page.locator('.said-row').last().getByRole('button', { name: 'echo', exact: true }).click();
    await page.waitForURL(/\/chat\/echo\?with=/);
    await lastAnswer().getByText('mended').waitFor();
    expect(await saidTexts()).toEqual(['mended']);
    await page.goBack();
    await expect.poll(() => page.url()).toBe(before);
    await expect.poll(async () => (await saidTexts()).at(-1)).toBe('mended');
    expect((await saidTexts()).length).toBeGreaterThan(1);
  });

  it('names the agent above a conversation, and leads back to the list on a phone', async () => {
    const wide = watched.page;
    await wide.locator('.chat-head').getByRole('link', { name: 'writer' }).waitFor();
    expect(await wide.getByRole('link', { name: 'All conversations' }).isVisible()).toBe(false);
    // So low that the agents do not fit below the conversations.
    const phone = { viewport: { width: 390, height: 480 }, isMobile: true, hasTouch: true };
    const { page, wrongs } = await openPage(browser, server.url, phone);
    await page.goto(wide.url());
    await page.locator('.chat-head').getByRole('link', { name: 'writer' }).waitFor();
    await page.getByRole('link', { name: 'All conversations' }).click();
    await page
      .getByRole('list', { name: 'All conversations' })
      .getByRole('link', { name: /a letter to Ann/ })
      .waitFor();
    const choose = page.getByRole('heading', { name: 'Choose an agent' });
    const isSeen = () => choose.evaluate((element) => element.getBoundingClientRect().top < innerHeight);
    expect(await isSeen()).toBe(false);
    await page.getByRole('link', { name: 'New conversation' }).click();
    await expect.poll(isSeen).toBe(true);
    expect([await seriousFaults(page), wrongs]).toEqual([[], []]);
    await page.context().close();
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
