import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { messageId, taskId } from '#protocol';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { grpcClient } from '../support/grpc.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, rpcSend, startServer } from '../support/server.ts';

interface Har {
  readonly request: { readonly method: string; readonly postData?: { readonly text: string } };
  readonly response: { readonly status: number; readonly content: object };
}

suiteNeeding('chromium', CHROMIUM !== undefined, 'the wire page of the console', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    server = await startServer({ agents: [builtIn('script'), builtIn('echo')], console: createConsole() });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const call = (text: string, method?: string) =>
    fetch(
      jsonRequest(`${server.url}/agents/script/a2a?key=in-the-query`, rpcSend(text, method), { Authorization: 'Bearer in-a-header-12345' }),
    );

  it('shows requests of other clients while recording, and clears them', async () => {
    const { page, picture } = watched;
    await page.goto('/console/wire/node');
    await page.getByText('Traffic is not being recorded').waitFor();
    await call('before');
    await page.getByRole('button', { name: 'Record traffic' }).click();
    await page.getByText('No requests yet').waitFor();
    const stream = await call('chunks=3 delay=1200', 'SendStreamingMessage');
    const list = page.getByRole('list', { name: 'Requests, newest first' });
    await list.getByText('SendStreamingMessage').waitFor();
    await page.getByText('running').waitFor();
    const all = stream.text();
    await page
      .getByText('3 more frames')
      .or(list.getByText(/[4-9] frames/))
      .first()
      .waitFor();
    await all;
    await call('hello there');
    await list.getByText('SendMessage', { exact: true }).waitFor();
    await picture('wire-node');
    expect(await seriousFaults(page)).toEqual([]);
    expect(await page.content()).not.toMatch(/in-a-header|in-the-query/);
    expect(await list.getByRole('listitem').count()).toBe(2); // earlier requests, and those of the console itself, are not listed
    await list.getByRole('button', { name: /SendStreamingMessage/ }).click();
    expect(page.url()).toMatch(/\/wire\/node\?n=\d+$/);
    await page.reload(); // the node has the record, and the address names it
    await page.getByRole('list', { name: 'Frames' }).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
    const har = JSON.parse(readFileSync(await download.path(), 'utf8')) as { log: { version: string; entries: readonly Har[] } };
    expect(download.suggestedFilename()).toMatch(/^parley-.*\.har$/);
    const posts = har.log.entries.filter(({ request }) => request.method === 'POST');
    expect(posts.map(({ response }) => response.status)).toEqual([200, 200]);
    expect(posts[0]?.response.content).toMatchObject({ mimeType: 'text/event-stream', text: expect.stringContaining('chunk 3') });
    expect(posts[1]?.request.postData?.text).toContain('hello there');
    expect(JSON.stringify(har)).not.toMatch(/in-a-header|in-the-query/);
    await page.getByLabel('Search the traffic').fill('hello there');
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
    await page.getByLabel('Search the traffic').fill('');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('off', { exact: true }).waitFor();
    const before = await list.getByRole('listitem').count();
    await call('after');
    await page.waitForTimeout(1500);
    expect(await list.getByRole('listitem').count()).toBe(before);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('Traffic is not being recorded').waitFor();
    const kept = (await (await fetch(`${server.url}/api/parley/v1/wire`)).json()) as { exchanges: readonly unknown[] };
    expect(kept.exchanges).toEqual([]);
    expect(watched.wrongs).toEqual([]);
  });

  it('shows calls over gRPC with their messages and their status', async () => {
    const { page } = watched;
    await page.goto('/console/wire/node');
    await page.getByRole('button', { name: 'Record traffic' }).click();
    await page.getByText('No requests yet').waitFor();
    const client = grpcClient(server.port);
    const metadata = { authorization: 'Bearer in-metadata-12345' };
    const message = { messageId: messageId('m-grpc'), role: 'ROLE_USER' as const, parts: [{ text: 'chunks=3' }] };
    expect(await client.stream('stream', { message }, { metadata }).ended).toMatchObject({ code: 0 });
    await client.refusal('get', { id: taskId('nobody-knows') }, { metadata });
    client.close();
    const list = page.getByRole('list', { name: 'Requests, newest first' });
    await list.getByText('gRPC lf.a2a.v1 GetTask').waitFor();
    await list.getByText('NOT_FOUND').waitFor();
    await page.getByText(/Response · gRPC NOT_FOUND/).waitFor();
    await page.getByText('nobody-knows').first().waitFor();
    await list.getByRole('button', { name: /SendStreamingMessage/ }).click();
    await page.getByText(/Response · gRPC OK/).waitFor();
    expect(await page.getByRole('list', { name: 'Frames' }).getByRole('listitem').count()).toBe(5);
    expect(await page.content()).not.toContain('in-metadata');
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(watched.wrongs).toEqual([]);
  });
});
