import { createServer } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentCard } from '#protocol';
import { signCard } from '#protocol';
import type { JWK } from '../../src/protocol/adapters/jose.ts';
import { generateSigningKey, joseSigner, publicKeys } from '../../src/protocol/adapters/jose.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { run } from '../cli/run.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { CARD } from '../support/engine.ts';
import { suiteNeeding } from '../support/needs.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

/** A server that has nothing but a card and keys. */
async function cardServer(keys: readonly JWK[], make: (base: string) => Promise<AgentCard>): Promise<{ url: string; close(): void }> {
  let base = '';
  let card: AgentCard | undefined;
  const server = createServer((incoming, outgoing) => {
    const body = incoming.url === '/keys.json' ? publicKeys(keys) : /agent-card/.test(incoming.url ?? '') ? card : undefined;
    outgoing.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  base = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  card = await make(base);
  return { url: base, close: () => void server.close() };
}

const cardAt = (base: string): AgentCard => ({
  ...CARD,
  name: 'Signed',
  supportedInterfaces: [{ url: `${base}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
});

suiteNeeding('chromium', CHROMIUM !== undefined, 'the agents page of the console', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    server = await startServer({ agents: [builtIn('echo')], console: createConsole(), allowLoopbackTargets: true });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const examine = async (url: string): Promise<void> => {
    const { page } = watched;
    await page.goto('/console/agents');
    await page.getByLabel('Address').fill(url);
    await page.getByRole('button', { name: 'Check agent' }).click();
    await page.locator('.check[aria-busy=false]').waitFor();
  };
  const signature = () => watched.page.getByRole('region', { name: 'Signature' });

  it('says what each agent did lately', async () => {
    const { page } = watched;
    await page.goto('/console/agents');
    await page.getByRole('link', { name: /^echo.*Not used lately/ }).waitFor();
    await fetch(jsonRequest(`${server.url}/agents/echo/message:send`, sendBody('hi')));
    await page.getByRole('link', { name: /^echo.*just now, 1 task$/ }).waitFor();
  });

  it('shows the findings of parley doctor', async () => {
    const url = `${server.url}/agents/echo`;
    await watched.page.goto('/console/agents/echo');
    await watched.page.locator('.check[aria-busy=false]').waitFor();
    await watched.picture('agents-own');
    expect(await seriousFaults(watched.page)).toEqual([]);
    const told = await watched.page.locator('.findings li').evaluateAll((rows) => rows.map((row) => row.textContent ?? ''));
    const ran = await run(['doctor', url, '--json']);
    const { findings } = JSON.parse(ran.out) as { findings: readonly { what: string }[] };
    expect(told.length).toBe(findings.length);
    for (const [at, { what }] of findings.entries()) expect(told[at]).toContain(what);
    await signature().getByText('unsigned').waitFor();
  });

  it('reports an unreachable agent as the node sees it', async () => {
    await examine('http://127.0.0.1:1');
    await watched.page.getByText('nothing listens there').waitFor();
    await watched.page.getByText('try: start the agent, or check the port').waitFor();
    await watched.page.getByLabel('Address').fill('ftp://agent.example');
    await watched.page.getByRole('button', { name: 'Check agent' }).click();
    await watched.page.getByText('Enter an address that begins with http').waitFor();
  });

  it('tries each interface and shows the result', async () => {
    const lone = await cardServer([], async (base) => cardAt(base));
    await examine(lone.url);
    await watched.page.getByRole('cell', { name: 'nothing is there' }).waitFor();
    await watched.page.getByText('interface-not-found').waitFor();
    await watched.picture('agents-examined');
    lone.close();
  });

  it('chats with a remote agent, also with its examples', async () => {
    const other = await startServer({ agents: [builtIn('demo')] });
    await examine(other.url);
    const { page } = watched;
    await page.getByRole('button', { name: 'Chat', exact: true }).click();
    await page.getByRole('textbox', { name: /Message to/ }).fill('hello');
    await page.keyboard.press('Enter');
    await page.locator('.by-agent').getByText('Try one of these words').waitFor();
    await examine(other.url);
    await page.locator('.skill button').first().click();
    await page.waitForURL(/\/console\/chat\//);
    await page.locator('.by-agent').getByText('task').first().waitFor();
    await other.close();
  });

  it('verifies signatures: valid, changed, by an unknown key, by a given key', async () => {
    const key = await generateSigningKey('ES256');
    const signed = (base: string, more: { readonly jku?: string } = {}) => signCard(cardAt(base), joseSigner({ key, ...more }));
    const good = await cardServer([key], (base) => signed(base, { jku: `${base}/keys.json` }));
    await examine(good.url);
    await signature().getByText('valid', { exact: true }).waitFor();
    const bad = await cardServer([key], async (base) => ({
      ...(await signed(base, { jku: `${base}/keys.json` })),
      description: 'changed',
    }));
    await examine(bad.url);
    await signature().getByText('invalid', { exact: true }).waitFor();
    await watched.picture('agents-signature');
    const unknown = await cardServer([], (base) => signed(base));
    await examine(unknown.url);
    await signature().getByText('key unknown').waitFor();
    await signature().getByText('Check with keys that you trust').click();
    await signature().getByLabel('JSON Web Key Set').fill('nonsense');
    await signature().getByRole('button', { name: 'Check' }).click();
    await signature().getByText('This is not JSON.').waitFor();
    await signature()
      .getByLabel('JSON Web Key Set')
      .fill(JSON.stringify(publicKeys([key])));
    await signature().getByRole('button', { name: 'Check' }).click();
    await signature().getByText('valid', { exact: true }).waitFor();
    // Keys that a signature itself points to prove nothing, so they are not fetched.
    const elsewhere = await cardServer([], (base) => signed(base, { jku: `${good.url}/keys.json` }));
    await examine(elsewhere.url);
    await signature().getByText('key unknown').waitFor();
    for (const each of [good, bad, unknown, elsewhere]) each.close();
    expect(watched.wrongs).toEqual([]);
  });
});
