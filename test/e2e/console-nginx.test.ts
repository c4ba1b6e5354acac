import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { createAuthority } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { RunningNginx } from '../support/nginx.ts';
import { NGINX, startNginx } from '../support/nginx.ts';
import { scratchFolder } from '../support/scratch.ts';
import { builtIn, jsonRequest, sendBody, startServer } from '../support/server.ts';

suiteNeeding('chromium and nginx', CHROMIUM !== undefined && NGINX !== undefined, 'the console behind nginx with a prefix', () => {
  let server: NodeServer;
  let nginx: RunningNginx;
  beforeAll(async () => {
    const folder = scratchFolder();
    const port = await freePort();
    const { cert, key } = createAuthority(folder, 'operator').issue('proxy', 'DNS:localhost');
    const url = `https://localhost:${port}/parley`;
    server = await startServer({ agents: [builtIn('script')], console: createConsole(), url, trustedProxies: ['127.0.0.1'] });
    const proxy = `proxy_pass http://127.0.0.1:${server.port}/; proxy_set_header Host $host:$server_port; proxy_buffering off;`;
    nginx = await startNginx({ folder, port, cert, key, locations: [`location /parley/ { ${proxy} }`] });
    await (await fetch(`${server.url}/console/`)).text(); // builds the console
  });
  afterAll(async () => {
    await nginx?.stop();
    await server?.close();
  });

  it('opens its pages, and requests nothing outside of the prefix', async () => {
    await (await fetch(jsonRequest(`${server.url}/message:send`, sendBody('fail at once')))).text();
    const browser = await openBrowser();
    try {
      const base = `${nginx.url}/parley`;
      const { page, wrongs } = await openPage(browser, base, { ignoreHTTPSErrors: true });
      await page.goto(`${base}/`);
      await page.waitForURL(`${base}/console/home`);
      const failed = page.getByRole('region', { name: 'Failures' }).getByRole('link', { name: 'fail at once' });
      await failed.click();
      await page.waitForURL(/\/parley\/console\/tasks\//);
      await page.getByText('The message asked me to fail.').first().waitFor();
      await page.reload();
      await page.getByText('The message asked me to fail.').first().waitFor();
      expect(wrongs).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
