import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import { openBrowser, openPage } from '../../test/support/browser.ts';
import { finishedTasks, scrolled } from '../../test/support/scrolling.ts';
import { startServer } from '../../test/support/server.ts';
import { quartiles } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';

const TASKS = 100_000;

/** Scrolls the list of tasks in Chromium, which draws without a GPU, so that its frames need the processor. Node and page share the machine. */
export async function benchConsole({ rounds, warmUp }: Sizes): Promise<readonly Figure[]> {
  const store = memoryStore();
  for (const all = finishedTasks(TASKS); all.length > 0; ) await store.commit(all.splice(0, 1000));
  const server = await startServer({ store, console: createConsole() });
  const browser = await openBrowser();
  try {
    const { page } = await openPage(browser, server.url);
    await page.goto('/console/tasks');
    await page.locator('.task-row .t-id').first().waitFor({ timeout: 60_000 });
    const all = [];
    for (let round = 0; round < warmUp + rounds; round += 1) all.push(await scrolled(browser, page));
    const counted = all.slice(-rounds);
    return [
      {
        what: 'scrolling 100,000 tasks, five rows a frame',
        value: `${quartiles(
          counted.map(({ perSecond }) => perSecond),
          1,
        )} frames/s`,
        beside: `the page at rest ${quartiles(
          counted.map(({ idlePerSecond }) => idlePerSecond),
          1,
        )} frames/s`,
        goal: '≥ 50',
      },
      {
        what: '',
        value: `${quartiles(
          counted.map(({ cpuMs }) => cpuMs),
          1,
        )} ms of the page’s processor time a frame`,
        beside: '',
        goal: '≤ 20 ms: 50 frames/s on a core of its own',
      },
    ];
  } finally {
    await browser.close();
    await server.close();
  }
}
