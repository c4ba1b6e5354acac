import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Task } from '#protocol';
import { chunksText, freshName, sendInit, sendTask, tasksWhere, textOf } from './client.ts';
import { eventOf, eventsOf } from './frames.ts';
import { childFile, startParley } from './parley.ts';
import { msFor, times } from './size.ts';

/**
 * docs/faults.md E2: SIGKILL at every named point between a message and its response. The caller may miss the response. When it sends
 * the same message again, there is one task with a complete answer. (`children/failpoints.ts` defines the points.)
 */
const POINTS = ['begin', 'inserted', 'commit', 'committed', 'answer', 'answered'] as const;
const folder = mkdtempSync(join(tmpdir(), 'parley-e2-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Heard = 'nothing' | 'something' | 'all';

/** How much of the answer reached the caller. */
async function ask(url: string, name: string, isStream: boolean): Promise<Heard> {
  let heard: Heard = 'nothing';
  try {
    if (!isStream) {
      await sendTask(url, 'chunks=3', { messageId: name, contextId: name });
      return 'all';
    }
    const response = await fetch(`${url}/message:stream`, sendInit('chunks=3', { messageId: name, contextId: name }));
    for await (const frame of eventsOf(response)) {
      heard = eventOf(frame).statusUpdate?.status.state === 'TASK_STATE_COMPLETED' ? 'all' : 'something';
    }
    return heard;
  } catch (thrown) {
    if (thrown instanceof TypeError) return heard;
    throw thrown;
  }
}

interface Outcome {
  readonly heard: Heard;
  /** Tasks of the message after the restart, and after it was sent again. */
  readonly kept: number;
  readonly answer: Task;
  readonly tasks: number;
}

async function dieAt(point: string, nth: number, isStream: boolean): Promise<Outcome> {
  const data = join(folder, `${point}-${nth}`);
  const options = { data, limits: { retryMs: 20 } };
  const dying = await startParley({
    ...options,
    node: ['--import', childFile('failpoints.ts')],
    env: { PARLEY_TEST_FAIL_AT: `${point}:${nth}` },
  });
  const name = freshName('e2');
  const heard = await ask(dying.url, name, isStream);
  dying.process.kill('SIGKILL'); // the point may never have been reached the nth time
  await dying.ended;
  const next = await startParley(options);
  try {
    const kept = (await tasksWhere(next.url, `contextId=${name}`)).length;
    const answer = await sendTask(next.url, 'chunks=3', { messageId: name, contextId: name });
    return { heard, kept, answer, tasks: (await tasksWhere(next.url, `contextId=${name}`)).length };
  } finally {
    await next.kill();
  }
}

function check(point: string, nth: number, { heard, kept, answer, tasks }: Outcome): void {
  const isBefore = ['begin', 'inserted', 'commit'].includes(point);
  if (nth === 1 && isBefore) expect([heard, kept]).toEqual(['nothing', 0]);
  if (nth === 1 && point === 'committed') expect([heard, kept]).toEqual(['nothing', 1]);
  if (heard !== 'nothing') expect(kept).toBe(1);
  // A repeat after the whole response was delivered is a new send, unless the crash came before the delivery was recorded. Both are right.
  if (heard !== 'all') expect(tasks).toBe(1);
  expect(answer.status.state).toBe('TASK_STATE_COMPLETED');
  expect(textOf(answer)).toBe(chunksText(3));
}

describe('E2: after SIGKILL between message, commit and response', () => {
  // If a point is reached a third time, then after the response has started.
  const nths = Array.from({ length: times(1, 30) }, (_, at) => (at % 3) + 1);
  for (const point of POINTS) {
    for (const isStream of [false, true]) {
      it(`at ${point}, the same ${isStream ? 'stream' : 'send'} again returns the same task`, {
        timeout: msFor(nths.length, 10_000),
      }, async () => {
        for (const nth of nths) check(point, nth, await dieAt(point, nth, isStream));
      });
    }
  }
});
