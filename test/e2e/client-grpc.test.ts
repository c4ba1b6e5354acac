import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentCard } from '#protocol';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { CHROMIUM, openBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import type { Listening } from '../support/listen.ts';
import { listen } from '../support/listen.ts';
import { suiteNeeding } from '../support/needs.ts';
import { metric, startServer } from '../support/server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A page of another origin than the node, so every call is checked by the browser (CORS). */
suiteNeeding('chromium', CHROMIUM !== undefined, 'gRPC-Web and Connect from a page', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-page-'));
  let pages: Listening;
  let server: NodeServer;
  let card: AgentCard;
  let browser: Browser;
  let page: Page;
  const requests: { readonly url: string; readonly type: string | undefined }[] = [];
  beforeAll(async () => {
    await build({
      ...{ entryPoints: [join(ROOT, 'test/e2e/children/grpc-page.ts')], outdir: scratch, absWorkingDir: ROOT },
      ...{ bundle: true, splitting: true, format: 'esm', platform: 'browser', conditions: ['our-src'], target: 'es2023' },
    });
    pages = await listen(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/') return new Response('<!doctype html><title>page</title>', { headers: { 'Content-Type': 'text/html' } });
      if (!/^\/[\w.-]+\.js$/.test(pathname)) return new Response('', { status: 404 });
      return new Response(readFileSync(join(scratch, pathname)), { headers: { 'Content-Type': 'text/javascript' } });
    });
    server = await startServer({ allowedOrigins: [new URL(pages.url).origin] });
    const whole = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as AgentCard;
    card = { ...whole, supportedInterfaces: whole.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === 'GRPC') };
    browser = await openBrowser();
    page = await browser.newPage();
    page.on('request', (request) => requests.push({ url: request.url(), type: request.headers()['content-type'] }));
    await page.goto(pages.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await pages?.close();
    rmSync(scratch, { recursive: true });
  });
  const called = (name: string, given: unknown): Promise<unknown> =>
    page.evaluate(`import('/grpc-page.js').then(({ ${name} }) => ${name}(${JSON.stringify(given)}))`);

  it('our client speaks gRPC-Web, and loads its code with the first call', async () => {
    await page.evaluate("import('/grpc-page.js').then(() => undefined)");
    const early = requests.length;
    expect(await called('callWithOurClient', card)).toEqual({
      ...{ binding: 'GRPC', dialect: 'v10', unknown: 'TASK_NOT_FOUND', aborted: 'aborted' },
      ...{ state: 'TASK_STATE_COMPLETED', text: 'chunk 1chunk 2chunk 3' },
    });
    const later = requests.slice(early);
    expect(later.filter(({ url }) => url.endsWith('.js')).length).toBeGreaterThan(0);
    const calls = later.filter(({ url, type }) => url.startsWith(server.url) && type !== undefined);
    expect(calls.map(({ type }) => type)).toEqual(calls.map(() => 'application/grpc-web+proto'));
    expect(calls.length).toBeGreaterThan(3);
    // The stream that the page left is closed; its task continues.
    await eventually(async () => expect(await metric(server.url, 'parley_streams_open')).toBe(0));
  });

  it('our client calls an agent of 0.3', async () => {
    const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === '0.3');
    expect(await called('callWithOurClient', { ...card, supportedInterfaces })).toMatchObject({
      ...{ binding: 'GRPC', dialect: 'v03.rest', text: 'chunk 1chunk 2chunk 3' },
    });
  });

  it('Connect’s own client calls in the protocol of Connect', async () => {
    expect(await called('callWithConnect', server.url)).toEqual({
      ...{ answer: 'task', kinds: ['task', 'artifactUpdate', 'artifactUpdate', 'statusUpdate'], error: 'NotFound' },
    });
  });

  it('a page of another origin gets nothing', async () => {
    const other = await browser.newPage();
    await other.goto(pages.url.replace('127.0.0.1', 'localhost'));
    const failed = other.evaluate(`import('/grpc-page.js').then(({ callWithConnect }) => callWithConnect(${JSON.stringify(server.url)}))`);
    await expect(failed).rejects.toThrow(/Failed to fetch/);
    await other.close();
  });
});
