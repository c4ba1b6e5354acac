import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';

export const CHROMIUM: string | undefined = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The folder for screenshots. Git ignores it. */
const PICTURES = join(ROOT, 'screenshots');

export async function openBrowser(): Promise<Browser> {
  const executablePath = CHROMIUM;
  if (executablePath === undefined) throw new Error('there is no Chromium here');
  return await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** A page and its problems: policy violations, script errors, requests to other servers than the node. */
export interface Watched {
  readonly page: Page;
  readonly wrongs: string[];
  picture(name: string): Promise<void>;
}

export async function openPage(browser: Browser, base: string, options: BrowserContextOptions = {}): Promise<Watched> {
  // In a checkout the first request builds the console, which may take longer than a page waits.
  await fetch(`${base}/console/`).catch(() => undefined);
  // Without motion: axe measures the contrast of text while it still fades in.
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, baseURL: base, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  // As long as `eventually` waits: a browser on a busy machine may take many seconds.
  page.setDefaultTimeout(60_000);
  const wrongs: string[] = [];
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      // biome-ignore lint/suspicious/noConsole: it is heard below
      console.error(`policy violated: ${violatedDirective} by ${blockedURI}`);
    });
  });
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // Chromium logs every status from 400 as an error; some of them are expected.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) wrongs.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(base) && !/^(data|blob):/.test(url)) wrongs.push(`request to ${url}`);
  });
  return {
    page,
    wrongs,
    picture: async (name) => {
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${name}.png`) });
    },
  };
}
