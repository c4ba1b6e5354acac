import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent, status } from '#agents';
import { A2AClient } from '#client';
import { proxyAgent } from '../../src/agents/proxy/proxy.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

const booking = defineAgent({
  name: 'booking',
  description: 'Books rooms, and asks first.',
  recovery: 'retry',
  run: async function* (turn) {
    yield status([{ text: 'Using tool: find_rooms' }, { data: { id: '1', tool: 'find_rooms' } }], { event: 'tool_use' });
    yield status([{ text: 'Tool result: B2' }, { data: { id: '1', isError: false } }], { event: 'tool_result' });
    const { text } = await turn.ask('Take room B2?', { options: ['yes', 'no'] });
    yield `You said ${text}. `;
    yield 'Booked.';
  },
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

suiteNeeding('chromium', CHROMIUM !== undefined, 'the page of a task', () => {
  let far: NodeServer;
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    far = await startServer({ agents: [builtIn('echo')] });
    const client = await A2AClient.connect(far.url);
    const away = proxyAgent({ service: client.service, card: { ...builtIn('echo').card, name: 'away' } });
    server = await startServer({
      agents: [booking, builtIn('script'), away],
      console: createConsole(),
      traceUrl: 'http://traces.test/t/{traceId}',
    });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await far?.close();
  });

  const send = async (agent: string, text: string): Promise<string> => {
    const request = jsonRequest(`${server.url}/agents/${agent}/message:send`, sendBody(text));
    request.headers.set('traceparent', `00-${TRACE}-00f067aa0ba902b7-01`);
    return ((await (await fetch(request)).json()) as { task: { id: string } }).task.id;
  };

  it('shows turns, tool calls, questions and grouped chunks as bars, and the wait for a person apart', async () => {
    const { page } = watched;
    const id = await send('booking', 'book a room');
    await page.goto(`/console/tasks/${id}`);
    const steps = page.getByRole('region', { name: 'Timeline' });
    await steps.getByRole('button', { name: /turn book a room/ }).waitFor();
    await steps.getByRole('button', { name: /tool find_rooms/ }).waitFor();
    await steps.getByRole('button', { name: /question Take room B2\?.*…/ }).waitFor(); // it is still open
    await page.getByText('keeps waiting for the answer').waitFor();
    await page.getByRole('article', { name: 'booking asks' }).getByRole('button', { name: 'yes' }).click(); // on the page of the task
    await page.getByRole('heading', { name: /completed/ }).waitFor();
    expect(await page.getByRole('article', { name: 'booking asks' }).count()).toBe(0);
    await page.goto('/console/approvals');
    const answered = page.getByRole('region', { name: 'Answered' });
    await answered.getByRole('link', { name: 'Take room B2?' }).waitFor();
    await answered.getByText('yes', { exact: true }).waitFor();
    await page.goto(`/console/tasks/${id}`);
    await steps.getByRole('button', { name: /output .*2 chunks/ }).waitFor();
    await steps.getByText('waited for a person').waitFor();
    expect(await page.getByText('If the node restarts').count()).toBe(0);
    await steps.getByRole('button', { name: /question Take room B2/ }).click();
    await page.getByText(/After event \d+ of/).waitFor();
    await watched.picture('task-waterfall');
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('shows why a task failed first, and counts the same duration as the list', async () => {
    const { page } = watched;
    const id = await send('script', 'fail');
    await page.goto(`/console/tasks/${id}`);
    await page.getByRole('alert').getByText('The message asked me to fail.').waitFor();
    await page.getByRole('alert').getByRole('link', { name: 'Show its log lines' }).waitFor();
    const ticks = await page.locator('.span-ticks i').allTextContents();
    expect(new Set(ticks).size).toBe(ticks.length); // a very short task has no equal times on its axis
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('link', { name: 'Show in every dialect' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Show in every dialect' }).waitFor({ state: 'hidden' });
    await page.goto('/console/tasks');
    await page.getByRole('button', { name: 'Only failures' }).click();
    await page.waitForURL(/status=TASK_STATE_FAILED/);
    await page.locator('.t-cause').getByText('The message asked me to fail.').waitFor(); // the list says why, too
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Only failures' }).click();
    await page.waitForURL((url) => url.search === '');
  });

  it('finds the place in a long list again', async () => {
    const { page } = watched;
    for (let at = 0; at < 80; at += 1) await send('script', `number ${at}`);
    await page.goto('/console/tasks');
    await page.getByText(/^\d+ tasks$/).waitFor();
    const top = () => page.evaluate(() => document.querySelector('.virtual')?.scrollTop ?? 0);
    await page.evaluate(() => document.querySelector('.virtual')?.scrollTo(0, 1800));
    await expect.poll(() => page.evaluate(() => history.state?.top)).toBe(1800);
    await page.locator('.task-row > a').nth(12).click();
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    await page.goBack();
    await expect.poll(top).toBe(1800);
    await page.reload();
    await expect.poll(top).toBe(1800);
    await page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Health' }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).click();
    await page.locator('.task-row > a').first().waitFor();
    expect(await top()).toBe(0); // a new visit begins at the top
  });

  it('links to the trace of the task', async () => {
    const { page } = watched;
    const id = await send('script', 'chunks=2');
    await page.goto(`/console/tasks/${id}`);
    expect(await page.getByRole('link', { name: TRACE.slice(0, 8) }).getAttribute('href')).toBe(`http://traces.test/t/${TRACE}`);
  });

  it('shows a retried task and the task of a remote agent as a tree', async () => {
    const { page } = watched;
    await page.goto(`/console/tasks/${await send('script', 'fail')}`);
    await page.getByRole('button', { name: 'Retry' }).click();
    const related = page.getByRole('region', { name: 'Related tasks' });
    await related.getByText('follows').waitFor();
    expect(await related.getByRole('link', { name: 'fail' }).count()).toBe(2);
    await page.goto(`/console/tasks/${await send('away', 'hello')}`);
    await related.getByText('on another node').waitFor();
    await page.getByRole('button', { name: /delegation The remote agent works/ }).waitFor();
    await watched.picture('task-tree');
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('shows what a client of each dialect had received at any event', async () => {
    const { page } = watched;
    const id = await send('script', 'chunks=3');
    await page.goto(`/console/tasks/${id}`);
    const seen = page.getByRole('region', { name: 'What a client had received', exact: true });
    await seen.getByRole('heading', { name: 'Frame 5 of the stream' }).waitFor();
    await page.getByRole('slider').fill('2');
    const frame = seen.getByRole('region', { name: 'Frame 2 of the stream' });
    await frame.getByText('artifactUpdate').waitFor();
    await seen.getByRole('combobox').selectOption('v03');
    await frame.getByText('"artifact-update"').waitFor();
  });

  it('runs a request with another agent, and compares the two runs', async () => {
    const { page } = watched;
    const id = await send('script', 'chunks=2');
    await page.goto(`/console/tasks/${id}`);
    await page.getByLabel('Run with another agent').click();
    await page.getByRole('button', { name: 'away', exact: true }).click();
    await page.getByRole('region', { name: 'Run of away' }).locator('.output .own').getByText('chunks=2').waitFor();
    await page.getByRole('region', { name: 'Run of script' }).locator('.output .own').getByText('chunk 1').waitFor();
    await page.getByRole('heading', { name: 'Two runs of one request' }).waitFor();
    await watched.picture('task-compare');
    expect(await seriousFaults(page)).toEqual([]);
    await page.goto(`/console/tasks/${id}`);
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.locator('.compare-choose').getByRole('link', { name: 'away' }).waitFor();
  });

  it('caused no errors and no policy violations', () => {
    expect(watched.wrongs).toEqual([]);
  });
});
