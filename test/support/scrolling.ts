import type { Browser, Page } from 'playwright-core';
import type { TaskKey, Write } from '#engine';
import type { Seq, TaskState } from '#protocol';
import { contextId, taskId } from '#protocol';
import { tracing } from './trace.ts';

const STATES: readonly TaskState[] = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED'];

/** Finished tasks as a store has them after a busy month. */
export function finishedTasks(count: number): Write[] {
  return Array.from({ length: count }, (_, at): Write => {
    const id = taskId(`task-${String(at).padStart(6, '0')}`);
    const context = contextId(`context-${at % 5000}`);
    const statusAt = Date.now() - (count - at) * 100;
    const state = STATES[at % 7 === 0 ? 1 : at % 11 === 0 ? 2 : 0] ?? 'TASK_STATE_COMPLETED';
    const task = { id, contextId: context, status: { state, timestamp: new Date(statusAt).toISOString() } };
    const row = {
      ...{ key: (at + 1) as TaskKey, id, owner: { tenant: '', principal: `user-${at % 50}` }, agent: at % 3 === 0 ? 'echo' : 'script' },
      ...{ contextId: context, dialect: 'v10' as never, state, statusAt, last: 1 as Seq, turn: 1 as Seq, attempt: 0, bytes: 200 },
    };
    return { kind: 'task', row, isNew: true, entries: [{ seq: 1 as Seq, event: { task } }] };
  });
}

const STEP_PX = 220;

/** Counts the frames of the page in this many milliseconds, with some work in each. */
const frames = (each: string, ms: number): string => `new Promise((resolve) => {
  const box = document.querySelector('.virtual');
  const before = box.scrollTop;
  const times = [];
  const step = (now) => {
    times.push(now);
    ${each};
    if (now - times[0] < ${ms}) requestAnimationFrame(step);
    else resolve({ count: times.length - 1, seconds: (times.at(-1) - times[0]) / 1000, px: box.scrollTop - before });
  };
  requestAnimationFrame(step);
})`;

interface Frames {
  readonly count: number;
  readonly seconds: number;
  readonly px: number;
}

/** How a list was scrolled: frames per second, also of the page at rest, and the page's own processor time for a frame. */
export interface Scrolled {
  readonly perSecond: number;
  readonly idlePerSecond: number;
  /** Other work on the machine does not change it. */
  readonly cpuMs: number;
  /** The share of the way that the list has moved. */
  readonly moved: number;
}

/** Scrolls the list of the page by five rows in each frame, for four seconds. */
export async function scrolled(browser: Browser, page: Page): Promise<Scrolled> {
  const idle = (await page.evaluate(frames('', 1000))) as Frames;
  let seen: Frames = { count: 0, seconds: 1, px: 0 };
  const busy = await tracing(browser, page, async () => {
    seen = (await page.evaluate(frames(`box.scrollTop += ${STEP_PX}`, 4000))) as Frames;
  });
  return {
    perSecond: seen.count / seen.seconds,
    idlePerSecond: idle.count / idle.seconds,
    cpuMs: busy.sumMs / seen.count,
    moved: seen.px / (STEP_PX * seen.count),
  };
}
