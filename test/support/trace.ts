import type { Browser, Page } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

export interface Busy {
  /** The longest single task of the page's thread, and all of them: in milliseconds of processor time, so that other programs don't count. */
  readonly longestMs: number;
  readonly sumMs: number;
  /** The longest by wall-clock time. */
  readonly longestWallMs: number;
}

/** The work of the page's main thread, from Chromium's trace. */
export async function tracing(browser: Browser, page: Page, run: () => Promise<void>): Promise<Busy> {
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  await run();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { readonly traceEvents: readonly TraceEvent[] };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(({ name, pid, tid }) => name === 'RunTask' && mains.has(`${pid} ${tid}`));
  const cpu = tasks.map(({ tdur = 0 }) => tdur / 1000);
  return {
    longestMs: Math.max(0, ...cpu),
    sumMs: cpu.reduce((all, one) => all + one, 0),
    longestWallMs: Math.max(0, ...tasks.map(({ dur = 0 }) => dur / 1000)),
  };
}
