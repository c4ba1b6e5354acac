import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataFolder, folderFor } from '../../src/server/adapters/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';
import { launchServe, parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { jsonRequest, sendBody } from '../support/server.ts';

interface TaskShown {
  readonly id: string;
  readonly agent: string;
  readonly state: string;
}

async function startTask({ url }: Parley, text: string): Promise<string> {
  const response = await fetch(jsonRequest(`${url}/message:send`, sendBody(text, { configuration: { returnImmediately: true } })));
  return ((await response.json()) as { readonly task: TaskShown }).task.id;
}

async function tasksOf({ url }: Parley): Promise<readonly TaskShown[]> {
  const response = await fetch(`${url}/api/parley/v1/tasks`);
  return ((await response.json()) as { readonly tasks: readonly TaskShown[] }).tasks;
}

const stateOf = async (node: Parley, id: string): Promise<string | undefined> =>
  (await tasksOf(node)).find((task) => task.id === id)?.state;

/** A folder for a project, and one for data. */
function place(): { readonly cwd: string; readonly env: Readonly<Record<string, string>>; readonly data: string } {
  const root = scratchFolder();
  const [cwd, data] = [join(root, 'Shop'), join(root, 'data')];
  mkdirSync(join(cwd, 'src'), { recursive: true });
  writeFileSync(join(cwd, 'package.json'), '{}');
  return { cwd, env: { XDG_DATA_HOME: data }, data: join(data, 'parley') };
}

describe('the data folder', () => {
  it('belongs to the project, whatever is served and wherever in it the command runs', () => {
    const { cwd } = place();
    expect(dataFolder(undefined, cwd)).toMatch(/[/\\]shop-[0-9a-f]{8}$/);
    expect(dataFolder(undefined, join(cwd, 'src'))).toBe(dataFolder(undefined, cwd));
    expect(dataFolder(undefined, place().cwd)).not.toBe(dataFolder(undefined, cwd));
    expect(dataFolder(undefined, homedir())).toMatch(/[/\\]default$/);
    expect(dataFolder('/named', cwd)).toBe('/named');
  });

  it('keeps the tasks of agents that another start does not serve', async () => {
    const { cwd, env, data } = place();
    const first = await parleyServe({ args: ['script', 'echo'], cwd, env });
    const asks = await startTask(first, 'ask');
    const works = await startTask(first, 'sleep=600000');
    await eventually(async () => (await stateOf(first, asks)) === 'TASK_STATE_INPUT_REQUIRED');
    await eventually(async () => (await stateOf(first, works)) === 'TASK_STATE_WORKING');
    await first.kill();

    const other = await parleyServe({ args: ['echo'], cwd, env });
    expect(readdirSync(data)).toEqual([expect.stringMatching(/^shop-/)]);
    expect([await stateOf(other, asks), await stateOf(other, works)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_WORKING']);
    const answered = await fetch(jsonRequest(`${other.url}/api/parley/v1/approvals/${asks}`, { text: 'yes' }));
    expect([answered.status, await answered.text()]).toEqual([expect.any(Number), expect.stringContaining('agent script is not served')]);
    expect(other.errors()).toMatch(/"absent":2/);
    expect(await other.stop()).toBe(0);

    const again = await parleyServe({ args: ['script'], cwd, env });
    const answer = await fetch(jsonRequest(`${again.url}/api/parley/v1/approvals/${asks}`, { text: 'yes' }));
    expect(answer.status).toBe(200);
    await eventually(async () => (await stateOf(again, asks)) === 'TASK_STATE_COMPLETED');
    expect(['TASK_STATE_WORKING', 'TASK_STATE_FAILED']).toContain(await stateOf(again, works)); // as the recovery of its agent says
    await again.kill();
  });

  it('names the node that uses it, and what to type', async () => {
    const { cwd, env } = place();
    const first = await parleyServe({ args: ['echo'], cwd, env });
    const second = launchServe({ args: ['script'], cwd, env });
    expect((await second.ended).code).toBe(1);
    expect(second.errors()).toMatch(/the node at http:\S+ \(process \d+\), which serves echo, uses the tasks in \S+shop-[\s\S]*--data DIR/);
    await first.stop();
  });

  it('is made from the folder that an older version had for the same agents', async () => {
    const { cwd, env, data } = place();
    const before = await parleyServe({ args: ['echo', '--data', join(data, folderFor(['echo']))], cwd, env });
    const id = await startTask(before, 'hello');
    expect(await before.stop()).toBe(0);
    const after = await parleyServe({ args: ['echo'], cwd, env });
    expect((await tasksOf(after)).map((task) => task.id)).toEqual([id]);
    expect(existsSync(join(data, 'echo'))).toBe(false);
    expect(await after.stop()).toBe(0);
    // A second old folder stays where it is, and the log names it.
    const [mine = ''] = readdirSync(data);
    renameSync(join(data, mine), join(data, 'script'));
    await (await parleyServe({ args: ['echo'], cwd, env })).stop();
    const both = await parleyServe({ args: ['script'], cwd, env });
    expect(both.errors()).toContain(`older tasks of these agents are in ${join(data, 'script')}`);
    expect(await both.stop()).toBe(0);
  });
});
