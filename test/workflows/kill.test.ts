import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { startNode } from '../support/processes.ts';
import { scratchFolder } from '../support/scratch.ts';

const HOST = fileURLToPath(new URL('children/host.ts', import.meta.url));
const scratch = scratchFolder();

interface Life {
  readonly isKilled: boolean;
  readonly answer: unknown;
}

async function live(folder: string, moment: number, ...kind: readonly string[]): Promise<Life> {
  const child = startNode([HOST, folder, String(moment), ...kind]);
  const { signal } = await child.ended;
  const [line] = child.lines();
  if (signal !== 'SIGKILL' && line === undefined) throw new Error(child.errors());
  return { isKilled: signal === 'SIGKILL', answer: line === undefined ? undefined : JSON.parse(line) };
}

const linesOf = (folder: string): readonly string[] => readFileSync(join(folder, 'ran'), 'utf8').trimEnd().split('\n');
const NODES = ['first', 'left', 'item 0', 'item 1', 'item 2', 'step 0', 'step 1', 'last'];
/** Nodes that started after they had finished. */
const repeated = (lines: readonly string[]): readonly string[] =>
  lines.filter((line, at) => line.startsWith('begin ') && lines.slice(0, at).includes(line.replace('begin', 'finished')));
const DONE = { state: 'TASK_STATE_COMPLETED', output: { last: 'last', items: [0, 1, 2].map((at) => ({ at: `item ${at}` })) } };

describe('a workflow killed with SIGKILL', () => {
  test('at the start and end of each node continues, and no finished node runs twice', async () => {
    const quiet = mkdtempSync(join(scratch, 'quiet-'));
    expect((await live(quiet, 0)).answer).toMatchObject(DONE);
    const moments = linesOf(quiet).length;
    expect(moments).toBe(NODES.length * 2 + 1); // the loop is finished, too
    for (let moment = 1; moment <= moments; moment += 1) {
      const folder = mkdtempSync(join(scratch, 'killed-'));
      expect((await live(folder, moment)).isKilled).toBe(true);
      const next = await live(folder, 0);
      expect(next, `killed at ${moment}`).toMatchObject({ isKilled: false, answer: DONE });
      expect(repeated(linesOf(folder)), `killed at ${moment}`).toEqual([]);
    }
  });

  test('twice, at different steps, completes', async () => {
    const folder = mkdtempSync(join(scratch, 'twice-'));
    expect((await live(folder, 5)).isKilled).toBe(true);
    expect((await live(folder, 4)).isKilled).toBe(true);
    expect(await live(folder, 0)).toMatchObject({ isKilled: false, answer: DONE });
    expect(repeated(linesOf(folder))).toEqual([]);
  });

  test('control: without stored results, finished nodes do run twice', async () => {
    const folder = mkdtempSync(join(scratch, 'control-'));
    expect((await live(folder, 5, 'forgetful')).isKilled).toBe(true);
    await live(folder, 0, 'forgetful');
    expect(repeated(linesOf(folder))).not.toEqual([]);
  });
});
