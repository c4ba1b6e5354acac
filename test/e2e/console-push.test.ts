import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

suiteNeeding('chromium', CHROMIUM !== undefined, 'the log of webhook deliveries', () => {
  const received: (string | string[] | undefined)[] = [];
  let receiver: Server;
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  let task = '';
  beforeAll(async () => {
    receiver = createServer((incoming: IncomingMessage, outgoing) => {
      received.push(incoming.headers['webhook-id']);
      incoming.resume();
      outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end('{"thanks":"for the event"}');
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', () => resolve()));
    const address = receiver.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    server = await startServer({ agents: [builtIn('script')], console: createConsole(), allowLoopbackTargets: true });
    const url = `http://127.0.0.1:${port}/hook?key=SECRET-1`;
    const taskPushNotificationConfig = { url, token: 'SECRET-2', authentication: { scheme: 'Bearer', credentials: 'SECRET-3' } };
    const body = sendBody('chunks=2', { configuration: { taskPushNotificationConfig } });
    const response = await fetch(jsonRequest(`${server.url}/agents/script/message:send`, body));
    task = ((await response.json()) as { task: { id: string } }).task.id;
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    receiver?.close();
  });

  it('shows request and response of each attempt without secrets', async () => {
    const { page } = watched;
    await page.goto('/console/push');
    const attempts = page.getByRole('list', { name: 'Attempts, newest first' });
    await attempts
      .getByRole('button', { name: /event 2 / })
      .first()
      .click();
    const attempt = page.getByRole('article', { name: 'Attempt' });
    await attempt.getByRole('region', { name: 'Response 200' }).getByText('for the event').waitFor();
    await attempt.getByRole('region', { name: 'Request' }).getByText('webhook-signature').waitFor();
    await page.getByRole('button', { name: 'Only failures' }).click();
    await page.getByText('No attempt has failed.').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Only failures', pressed: true }).click();
    await attempts
      .getByRole('button', { name: /event 2 / })
      .first()
      .click();
    await watched.picture('push-log');
    expect(await seriousFaults(page)).toEqual([]);
    const shown = await (await fetch(`${server.url}/api/parley/v1/push/attempts`)).text();
    expect(shown).toContain('[removed]');
    expect(shown).not.toMatch(/SECRET/);
  });

  it('sends an event again, with the same webhook id', async () => {
    const { page } = watched;
    const [first] = received;
    await page.getByRole('article', { name: 'Attempt' }).getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The event is sent again.').waitFor();
    await eventually(() => expect(received.filter((id) => id === first)).toHaveLength(2));
    await page.getByRole('button', { name: /attempt 2.*event 2 / }).waitFor();
  });

  it('draws the deliveries into the timeline of the task, and forgets them with it', async () => {
    const { page } = watched;
    await page.goto(`/console/tasks/${task}`);
    await page
      .getByRole('button', { name: /webhook 200 127\.0\.0\.1:\d+, event 2/ })
      .first()
      .waitFor();
    await fetch(`${server.url}/api/parley/v1/tasks/${task}`, { method: 'DELETE' });
    expect(await (await fetch(`${server.url}/api/parley/v1/push/attempts`)).json()).toEqual({ attempts: [] });
    expect(watched.wrongs).toEqual([]);
  });
});
