import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Oidc } from '../support/oidc.ts';
import { browse, CLIENT, startOidc } from '../support/oidc.ts';
import { builtIn, startServer } from '../support/server.ts';

/** An agent behind a gate: its card names the schemes, and every other request needs the right headers. */
async function gated(agent: string, schemes: object, isGood: (headers: Headers, url: URL) => boolean | Promise<boolean>) {
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
      const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      if (incoming.url?.startsWith('/.well-known/') === true) {
        const card = JSON.parse((await (await fetch(`${agent}${incoming.url}`)).text()).replaceAll(agent, own));
        const securityRequirements = Object.keys(schemes).map((name) => ({ schemes: { [name]: { list: [] } } }));
        outgoing.writeHead(200, { 'Content-Type': 'application/json' });
        outgoing.end(JSON.stringify({ ...card, name: 'Guarded', securitySchemes: schemes, securityRequirements }));
        return;
      }
      if (!(await isGood(headers, new URL(incoming.url ?? '/', own)))) {
        outgoing.writeHead(401, { 'Content-Type': 'application/json', 'WWW-Authenticate': 'Bearer' });
        outgoing.end('{}');
        return;
      }
      for (const name of ['host', 'connection', 'content-length', 'transfer-encoding', 'authorization', 'cookie']) headers.delete(name);
      const body = incoming.method === 'GET' ? {} : { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' as const };
      const answer = await fetch(`${agent}${incoming.url}`, { method: incoming.method ?? 'GET', headers, ...body });
      outgoing.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' });
      Readable.fromWeb(answer.body as never).pipe(outgoing);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

suiteNeeding('chromium', CHROMIUM !== undefined, 'signing in to a remote agent from the console', () => {
  let server: NodeServer;
  let agent: NodeServer;
  let oidc: Oidc;
  let browser: Browser;
  let watched: Watched;
  const open: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    server = await startServer({ agents: [builtIn('echo')], console: createConsole() });
    agent = await startServer({ agents: [builtIn('echo')] });
    oidc = await startOidc(3600, [`${server.url}/console/signed-in`]);
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    for (const close of open) await close();
    await server?.close();
    await agent?.close();
    await oidc?.close();
  });
  const guarded = async (schemes: object, isGood: (headers: Headers, url: URL) => boolean | Promise<boolean>): Promise<string> => {
    const gate = await gated(agent.url, schemes, isGood);
    open.push(gate.close);
    return gate.url;
  };
  const connect = async (url: string): Promise<void> => {
    const { page } = watched;
    await page.goto('/console/chat');
    await page.getByLabel('Address').fill(url);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('group', { name: 'Sign in to Guarded' }).waitFor();
  };
  const talks = async (): Promise<void> => {
    const { page } = watched;
    await page.waitForURL(/\/console\/chat\/127/);
    await page.getByRole('textbox', { name: /Message to/ }).fill('hello there');
    await page.keyboard.press('Enter');
    await page.locator('.by-agent').last().getByText('completed').waitFor();
    await page.locator('.by-agent').last().getByText('hello there').waitFor();
  };

  it('gives an API key where the card wants it, and keeps it out of the wire log and the address', async () => {
    const { page, picture } = watched;
    const scheme = { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Team-Key' } } };
    await connect(await guarded(scheme, (headers) => headers.get('x-team-key') === 'sesame-123'));
    await page.getByLabel('Key', { exact: true }).fill('sesame-123');
    await picture('sign-in-remote');
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    await talks();
    const hidden = Buffer.from(JSON.stringify({ 'X-Team-Key': 'sesame-123' })).toString('base64');
    const kept = await page.evaluate(() => JSON.stringify([location.href, { ...sessionStorage }, { ...localStorage }]));
    expect(kept).not.toContain('sesame-123');
    expect(kept).not.toContain(hidden);
  });

  it('keeps a key that the card wants in the address out of the wire log', async () => {
    const { page } = watched;
    const scheme = { key: { apiKeySecurityScheme: { location: 'query', name: 'k' } } };
    await connect(await guarded(scheme, (_, url) => url.searchParams.get('k') === 'open-sesame-9'));
    await page.getByLabel('Key', { exact: true }).fill('open-sesame-9');
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    await talks();
    await page.getByRole('link', { name: 'Wire' }).click();
    await page.getByRole('list', { name: 'Requests, newest first' }).getByText('SendStreamingMessage').first().waitFor();
    expect(await page.content()).not.toContain('open-sesame-9');
    await page.reload();
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('open-sesame-9');
  });

  it('sends headers of the user, and says which line is none', async () => {
    const { page } = watched;
    await connect(
      await guarded(
        { http: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
        (headers) => headers.get('x-a') === '1' && headers.get('cookie') === 's=2',
      ),
    );
    await page.getByLabel('With').selectOption({ label: 'Headers of your own' });
    await page.getByLabel(/^Headers, each line/).fill('nonsense');
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    await page.getByText('"nonsense" is not a header').waitFor();
    await page.getByLabel(/^Headers, each line/).fill('X-A: 1\nCookie: s=2');
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    await talks();
  });

  it('signs in by OAuth: with the secret of a program, and by a code in another window', async () => {
    const { page } = watched;
    const [tokenUrl, deviceAuthorizationUrl] = [`${oidc.issuer}/token`, `${oidc.issuer}/device/auth`];
    const flows = { clientCredentials: { tokenUrl, scopes: {} }, deviceCode: { tokenUrl, deviceAuthorizationUrl, scopes: {} } };
    const isGood = (headers: Headers) => oidc.isGood(headers.get('authorization') ?? undefined);
    const urls = await Promise.all(
      (['clientCredentials', 'deviceCode'] as const).map((flow) =>
        guarded({ oauth: { oauth2SecurityScheme: { flows: { [flow]: flows[flow] } } } }, isGood),
      ),
    );
    await connect(urls[0] ?? '');
    await page.getByLabel('With').selectOption('clientCredentials');
    await page.getByLabel('Client id').fill(CLIENT.clientId);
    await page.getByLabel('Client secret').fill('wrong');
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    await page.locator('.sign-in-remote .problem').waitFor();
    await page.getByLabel('Client secret').fill(CLIENT.clientSecret);
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    await talks();

    await connect(urls[1] ?? '');
    await page.getByLabel('With').selectOption('deviceCode');
    await page.getByLabel('Client id').fill(CLIENT.clientId);
    await page.getByLabel(/^Client secret/).fill(CLIENT.clientSecret);
    await page.getByLabel('Scopes').fill('openid');
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    const link = page.locator('.sign-in-remote [role=status] a');
    await link.waitFor();
    const code = (await page.locator('.sign-in-remote [role=status] strong').textContent()) ?? '';
    await browse((await link.getAttribute('href')) ?? '', 'Sign-in Success', { user_code: code });
    await talks();
    expect(watched.wrongs).toEqual([]);
  });

  it('signs in at the page of an OAuth server, which redirects to the console', async () => {
    const { page } = watched;
    const flow = { authorizationUrl: `${oidc.issuer}/auth`, tokenUrl: `${oidc.issuer}/token`, scopes: { openid: 'who you are' } };
    let token = '';
    const isGood = (headers: Headers) => {
      token = headers.get('authorization')?.replace('Bearer ', '') ?? '';
      return oidc.isGood(token);
    };
    await connect(await guarded({ oauth: { oauth2SecurityScheme: { flows: { authorizationCode: flow } } } }, isGood));
    expect(await page.getByLabel('With').inputValue()).toBe('authorizationCode');
    expect(await page.getByLabel('Scopes').inputValue()).toBe('openid');
    await page.getByText(`${server.url}/console/signed-in`).waitFor();
    await page.getByLabel('Client id').fill(CLIENT.clientId);
    await page.getByLabel(/^Client secret/).fill(CLIENT.clientSecret);
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    await talks();
    const kept = await page.evaluate(() => JSON.stringify([location.href, { ...sessionStorage }, { ...localStorage }]));
    expect([token.length > 20, kept.includes(token), kept.includes('code=')]).toEqual([true, false, false]);
    expect(watched.wrongs).toEqual([]);
  });

  it('can end a sign-in that nobody finishes, and says so where nobody waits for a redirect', async () => {
    const { page } = watched;
    const flow = { authorizationUrl: `${server.url}/docs/`, tokenUrl: `${oidc.issuer}/token`, scopes: {} };
    await connect(await guarded({ oauth: { oauth2SecurityScheme: { flows: { authorizationCode: flow } } } }, () => false));
    await page.getByLabel('Client id').fill('any');
    const opened = page.context().waitForEvent('page');
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    const other = await opened;
    expect(new URL(other.url()).searchParams.get('code_challenge_method')).toBe('S256');
    await page.getByText(`Sign in at ${new URL(server.url).host}`).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Sign in and connect' }).waitFor();
    await other.goto(`${server.url}/console/signed-in?code=a&state=b`);
    await other.getByText('No page waits for this sign-in').waitFor();
    expect(other.url()).toBe(`${server.url}/console/signed-in`);
    expect(await seriousFaults(other)).toEqual([]);
    await other.close();
  });

  it('never opens an address of a card that is not of the web', async () => {
    const { page } = watched;
    const flow = { authorizationUrl: 'javascript:document.title="bad"', tokenUrl: `${oidc.issuer}/token`, scopes: {} };
    await connect(await guarded({ oauth: { oauth2SecurityScheme: { flows: { authorizationCode: flow } } } }, () => false));
    await page.getByLabel('Client id').fill('any');
    await page.getByRole('button', { name: 'Sign in and connect' }).click();
    await page.locator('.sign-in-remote .problem').waitFor();
    expect(page.context().pages()).toHaveLength(1);
  });

  it('refuses headers that belong to the connection', async () => {
    for (const headers of [
      { Host: 'other.example' },
      { 'X-Relay-Authorization': 'x' },
      { 'Transfer-Encoding': 'chunked' },
      { 'bad name': 'x' },
      { A: 'x\r\ny' },
    ]) {
      const encoded = Buffer.from(JSON.stringify(headers)).toString('base64');
      const response = await fetch(`${server.url}/api/parley/v1/relay?url=${encodeURIComponent(agent.url)}`, {
        headers: { 'X-Relay-Headers': encoded },
      });
      expect([headers, response.status]).toEqual([headers, 400]);
    }
  });
});
