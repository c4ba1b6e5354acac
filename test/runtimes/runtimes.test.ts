import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { always, html } from '../support/broken-servers.ts';
import type { Listening } from '../support/listen.ts';
import { suiteNeeding } from '../support/needs.ts';
import { startServer } from '../support/server.ts';
import { describeHosts } from './hosts.ts';
import { runtimesFolder } from './install.ts';
import type { Addresses, Outcome } from './suite.ts';

/** Runs one suite in every runtime that the client supports. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const installed = runtimesFolder();
const bin = (name: string): string => join(installed ?? '', 'node_modules/.bin', name);
const scratch = mkdtempSync(join(tmpdir(), 'parley-runtimes-'));

let server: NodeServer;
let pages: Listening;
let addresses: Addresses;
beforeAll(async () => {
  server = await startServer();
  pages = await always((_, outgoing) => html(outgoing));
  addresses = { node: server.url, pages: pages.url };
  // `neutral`: an import of a Node module fails here.
  const common = {
    bundle: true,
    platform: 'neutral',
    absWorkingDir: ROOT,
  } as const;
  const entry = join(ROOT, 'test/runtimes/suite.ts');
  await build({ ...common, conditions: ['our-src'], entryPoints: [entry], format: 'esm', outfile: join(scratch, 'suite.mjs') });
  await build({
    ...common,
    conditions: ['our-src'],
    entryPoints: [entry],
    format: 'iife',
    globalName: 'parley',
    outfile: join(scratch, 'suite.js'),
  });
  writeFileSync(
    join(scratch, 'main.mjs'),
    "import { runSuite } from './suite.mjs';\nconst [node, pages] = (globalThis.Deno?.args ?? process.argv.slice(2));\nconsole.log(JSON.stringify(await runSuite({ node, pages })));\n",
  );
});
afterAll(async () => {
  await server.close();
  await pages.close();
  rmSync(scratch, { recursive: true });
});

function expectGood(outcomes: readonly Outcome[]): void {
  expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(10);
}

/** A program that runs `main.mjs` and prints the outcomes. */
async function printed(command: string, args: readonly string[]): Promise<readonly Outcome[]> {
  const child = spawn(command, [...args, join(scratch, 'main.mjs'), addresses.node, addresses.pages], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 110_000,
  });
  let out = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${errors}`);
  return JSON.parse(out) as readonly Outcome[];
}

describe('the client in this Node', () => {
  it(process.version, async () => expectGood(await printed(process.execPath, [])));
});

for (const version of ['22', '26']) {
  suiteNeeding(`node@${version} (npm)`, installed !== undefined, `the client in Node ${version}`, () => {
    it(
      'passes the suite',
      async () => expectGood(await printed(join(installed ?? '', `node_modules/node${version}/bin/node`), [])),
      60_000,
    );
  });
}

suiteNeeding('bun (npm)', installed !== undefined, 'the client in Bun', () => {
  it('passes the suite', async () => expectGood(await printed(bin('bun'), ['run'])));
});

suiteNeeding('deno (npm)', installed !== undefined, 'the client in Deno', () => {
  it('passes the suite', async () => expectGood(await printed(bin('deno'), ['run', '--allow-net=127.0.0.1'])));
});

describeHosts(installed, scratch);

suiteNeeding('miniflare (npm)', installed !== undefined, 'the client in a Worker (workerd)', () => {
  it('passes the suite', async () => {
    writeFileSync(
      join(scratch, 'worker.mjs'),
      "import { runSuite } from './suite.mjs';\nexport default { fetch: async (request) => Response.json(await runSuite(await request.json())) };\n",
    );
    const require = createRequire(join(installed ?? '', 'package.json'));
    const { Miniflare } = (await import(pathToFileURL(require.resolve('miniflare')).href)) as {
      Miniflare: new (options: object) => Worker;
    };
    const worker = new Miniflare({
      modules: ['worker.mjs', 'suite.mjs'].map((name) => ({ type: 'ESModule', path: join(scratch, name) })),
      modulesRoot: scratch,
      compatibilityDate: '2026-01-01',
    });
    try {
      const response = await worker.dispatchFetch('http://worker.example/', { method: 'POST', body: JSON.stringify(addresses) });
      expectGood((await response.json()) as readonly Outcome[]);
    } finally {
      await worker.dispose();
    }
  });
});

interface Worker {
  dispatchFetch(url: string, init: object): Promise<Response>;
  dispose(): Promise<void>;
}

suiteNeeding('chromium', CHROMIUM !== undefined, 'the client in Chromium', () => {
  it('passes the suite', async () => {
    const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      // The page has the agents' own origin. The other server has another origin, so the browser hides its errors.
      await page.goto(`${addresses.node}/healthz`);
      await page.addScriptTag({ path: join(scratch, 'suite.js') });
      const outcomes = await page.evaluate(
        (given) =>
          (globalThis as unknown as { parley: { runSuite(given: Addresses): Promise<readonly Outcome[]> } }).parley.runSuite(given),
        addresses,
      );
      expectGood(outcomes.filter(({ name }) => name !== 'knows a web page from an agent'));
    } finally {
      await browser.close();
    }
  });
});
