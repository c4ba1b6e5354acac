import { createServer } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tokenAuth } from '#server';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, startServer } from '../support/server.ts';

const TOKEN = 'a-token-of-this-machine-0123456789';

suiteNeeding('chromium', CHROMIUM !== undefined, 'the console and its token', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    const auth = [tokenAuth((given) => given === TOKEN)];
    server = await startServer({ agents: [builtIn('echo')], console: createConsole(), auth });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const show = async (token: string, isKept: boolean): Promise<void> => {
    const { page } = watched;
    await page.getByLabel('Token').fill(token);
    await page.getByLabel(/Keep it for this tab/).setChecked(isKept);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  it('is required, and forgotten when the page is closed', async () => {
    const { page, picture } = watched;
    await page.goto('/console/tasks');
    await page.getByText('Sign in to this node').waitFor();
    await picture('sign-in');
    expect(await seriousFaults(page)).toEqual([]);
    await show('wrong', false);
    await page.getByText('The token was not accepted').waitFor();
    await show(TOKEN, false);
    await page.getByText('No tasks yet').waitFor();
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]));
    expect(kept).not.toContain(TOKEN);
    await page.reload();
    await page.getByText('Sign in to this node').waitFor();
  });

  it('is kept for the tab only, if the user chooses so', async () => {
    const { page } = watched;
    await show(TOKEN, true);
    await page.getByText('No tasks yet').waitFor();
    await page.reload();
    await page.getByText('No tasks yet').waitFor();
    expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, document.cookie, location.href]))).not.toContain(TOKEN);
    await page.goto('/console/chat/echo');
    await page.getByRole('textbox', { name: /Message to/ }).fill('hello');
    await page.keyboard.press('Enter');
    await page.locator('.by-agent').getByText('completed').waitFor();
    await page.goto('/console/agents/echo');
    await expect.poll(() => page.getByRole('cell', { name: 'answers' }).count()).toBeGreaterThan(1);
    await page.getByRole('link', { name: 'Wire' }).click();
    await page.getByRole('list', { name: 'Requests, newest first' }).waitFor();
    expect(await page.content()).not.toContain(TOKEN);
    await page.getByRole('button', { name: 'Forget token' }).click();
    await page.getByText('Sign in to this node').waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain(TOKEN);
  });

  it('is never sent to a remote agent, and no address is read from a link', async () => {
    const { page } = watched;
    const heard: string[] = [];
    const thief = createServer((incoming, outgoing) => {
      heard.push(JSON.stringify(incoming.headers));
      outgoing.writeHead(401).end('{}');
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', () => resolve()));
    const { port } = thief.address() as { port: number };
    const url = `http://127.0.0.1:${port}`;
    await page.goto(`/console/chat?url=${url}&agent=${url}&gatewayUrl=${url}&with=${url}`);
    await show(TOKEN, true);
    await page.getByText('Choose an agent').waitFor();
    await page.waitForTimeout(500);
    expect(heard).toEqual([]);
    await page.getByLabel('Address').fill(url);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    // It refuses its card, so the console asks for credentials.
    await page.getByRole('button', { name: 'Connect without' }).click();
    await page.getByRole('textbox', { name: /Message to/ }).fill('hello');
    await page.keyboard.press('Enter');
    await page.locator('.by-agent').getByRole('alert').waitFor();
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.join()).not.toContain(TOKEN);
    // A refusal by the remote agent does not sign the user out of this node.
    await page.goto('/console/tasks');
    await page.getByRole('list', { name: 'Tasks' }).waitFor();
    thief.close();
  });

  it('has a content security policy that allows nothing else', async () => {
    const response = await fetch(`${server.url}/console/tasks/some-id`);
    expect([...response.headers].filter(([name]) => /policy|frame|nosniff|content-type/i.test(name))).toMatchInlineSnapshot(`
      [
        [
          "content-security-policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ],
        [
          "content-type",
          "text/html; charset=utf-8",
        ],
        [
          "cross-origin-opener-policy",
          "same-origin",
        ],
        [
          "cross-origin-resource-policy",
          "same-origin",
        ],
        [
          "referrer-policy",
          "no-referrer",
        ],
        [
          "x-content-type-options",
          "nosniff",
        ],
        [
          "x-frame-options",
          "DENY",
        ],
      ]
    `);
    expect(await response.text()).not.toMatch(/<script(?![^>]* src=)|<style| on\w+=/);
    expect((await fetch(`${server.url}/console/assets/none.js`)).status).toBe(404);
    const root = await fetch(server.url, { redirect: 'manual', headers: { Accept: 'text/html' } });
    expect([root.status, root.headers.get('location')]).toEqual([302, '/console/']);
    expect(watched.wrongs).toEqual([]);
  });
});
