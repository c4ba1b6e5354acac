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

suiteNeeding('chromium', CHROMIUM !== undefined, 'words where ids and JSON would be', () => {
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

  const send = async (agent: string, text: string): Promise<Sent> => {
    const response = await fetch(jsonRequest(`${server.url}/agents/${agent}/message:send`, sendBody(text)));
    return ((await response.json()) as { task: Sent }).task;
  };

  it('has a row for each task: first words, agent, caller, state, duration and relative time', async () => {
    const { page } = watched;
    await send('echo', 'the first words');
    await page.goto('/console/tasks');
    const row = page.getByRole('list', { name: 'Tasks' }).getByRole('link');
    await expect.poll(() => row.innerText()).toMatch(/completed\s+the first words\s+echo\s+local\s+(?:\d+ m?s|< 1 ms)/);
    expect(await row.innerText()).toMatch(/(just now|\d+ s ago)$/);
    expect(await page.locator('.task-head span').allTextContents()).toEqual([
      'State',
      'First words',
      'Agent',
      'Caller',
      'Duration',
      'Changed',
    ]);
    const phone = await openPage(browser, server.url, { viewport: { width: 390, height: 844 } });
    await phone.page.goto('/console/tasks');
    await phone.page.getByRole('list', { name: 'Tasks' }).getByText('echo', { exact: true }).waitFor(); // below the words
    expect(await phone.page.getByRole('list', { name: 'Tasks' }).getByText('local').isVisible()).toBe(false);
    await phone.page.context().close();
  });

  it('names the filters that a link has set', async () => {
    const { page } = watched;
    const { id, contextId } = await send('echo', 'more words');
    await page.goto(`/console/tasks/${id}`);
    await page.getByRole('link', { name: contextId }).click();
    await page.getByRole('button', { name: 'Remove the filter Conversation' }).getByText('Conversation:').waitFor();
    await page.goto(`/console/tasks/${id}`);
    await page.getByRole('link', { name: 'local' }).click();
    await page.getByRole('button', { name: 'Remove the filter Caller local' }).click();
    await page.waitForURL((url) => url.search === '');
  });

  it('moves between questions by j and k, and shows options and the chosen one by their names in the history', async () => {
    const { page } = watched;
    const first = await send('demo', 'approve');
    const second = await send('demo', 'approve');
    await page.goto('/console/approvals');
    await expect.poll(() => page.getByRole('article', { name: 'demo asks' }).count()).toBe(2);
    await page
      .getByText(/^asked (just now|\d+ s ago)$/)
      .first()
      .waitFor();
    const focused = () => page.evaluate(() => [...document.querySelectorAll('.approval')].indexOf(document.activeElement ?? document.body));
    for (const [key, at] of [
      ['j', 0],
      ['j', 1],
      ['k', 0],
      ['j', 1],
    ] as const) {
      await page.keyboard.press(key);
      expect([key, await focused()]).toEqual([key, at]);
    }
    await page.keyboard.press('1');
    await page.getByRole('region', { name: 'Answered' }).getByText('Yes, make it', { exact: true }).waitFor();
    // The newest question is the first of the list.
    await page.goto(`/console/tasks/${first.id}`);
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('Options: Yes, make it · No, leave it').waitFor();
    await result.locator('.from-user').getByText('Yes, make it', { exact: true }).waitFor();
    expect(await result.getByText('optionId').count()).toBe(0);
    await page.goto(`/console/tasks/${second.id}`);
    await page.getByRole('button', { name: 'No, leave it' }).click();
    await result.locator('.from-user').getByText('No, leave it', { exact: true }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('shows what a closed branch of JSON contains', async () => {
    const { page } = watched;
    await page.goto('/console/wire/rosetta');
    const closed = page.locator('.tree:not([open]) > summary').filter({ hasText: 'parts' }).or(page.locator('.tree:not([open]) > summary'));
    const shown = await closed.first().evaluate((summary) => {
      const preview = summary.querySelector('.preview');
      const count = summary.querySelector('.count');
      return [preview && getComputedStyle(preview, '::after').content, count?.getBoundingClientRect().width];
    });
    expect(shown).toEqual([expect.stringMatching(/text: .*Summarise this file/), 1]);
  });

  it('draws two runs on one time scale, and marks no lines where all differ', async () => {
    const { page } = watched;
    const slow = await send('script', 'chunks=4 delay=100');
    const quick = await send('script', 'chunks=3');
    await page.goto(`/console/tasks/${slow.id}?compare=${quick.id}`);
    const runs = page.getByRole('region', { name: 'Run of script' });
    const turns = runs.locator('.span-turn .span-track i');
    await expect.poll(() => turns.count()).toBe(2);
    const [long = 0, short = 0] = await turns.evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    expect(short).toBeLessThan(long / 2);
    const ends = await runs.locator('.span-ticks i:last-child').allTextContents();
    expect(ends[0]).toBe(ends[1]);
    await page.locator('.crumb').getByRole('link', { name: 'chunks=4 delay=100' }).waitFor();
    await expect.poll(() => page.locator('.output.unlike').count()).toBe(2);
    expect(await seriousFaults(page)).toEqual([]);
    const [one, other] = [await send('echo', 'same\none'), await send('echo', 'same\nother')];
    await page.goto(`/console/tasks/${one.id}?compare=${other.id}`);
    await page.locator('.output .own').getByText('other').waitFor();
    expect(await page.locator('.output.unlike').count()).toBe(0);
  });

  it('puts what can be done with a message beside it, and finds what conversations do not begin with', async () => {
    const { page } = watched;
    const { contextId } = await send('echo', 'beside me');
    await page.goto(`/console/chat/echo?with=${contextId}`);
    const said = page.getByRole('article', { name: 'You' });
    await said.hover();
    const [text, actions] = [await said.boundingBox(), await page.locator('.said-actions').boundingBox()];
    expect((actions?.x ?? 0) + (actions?.width ?? 0)).toBeLessThanOrEqual(text?.x ?? 0);
    await page.getByLabel('Search conversations').fill('zebra');
    await page.getByRole('link', { name: 'Search the texts of all tasks' }).click();
    await page.waitForURL(/\/tasks\?q=zebra$/);
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
