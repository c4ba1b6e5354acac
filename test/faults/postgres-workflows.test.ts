import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { getTask, sendTask, tasksWhere } from './client.ts';
import { childFile } from './parley.ts';

const FLOW = `name: flow
description: Three steps.
steps:
  one: { agent: steps, say: "one {{input.text}}" }
  two: { agent: steps, say: "wait {{one}}" }
  three: { agent: steps, say: "three {{two}}" }
result: "{{three}}"
`;
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

suiteNeeding('postgresql', hasPostgres, 'workflows on three nodes', () => {
  const [folder, place] = [scratchFolder(), postgresFolder()];
  const flow = join(folder, 'flow.yaml');
  const nodes: Parley[] = [];
  let server: PostgresServer | undefined;

  const ran = (line: string): number => {
    const file = join(folder, 'ran');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return lines.filter((each) => each === line).length;
  };
  const owned = async ({ url }: Parley): Promise<number> => {
    const { replica } = (await (await fetch(`${url}/readyz`)).json()) as { readonly replica: { readonly cells: number } };
    return replica.cells;
  };

  beforeAll(async () => {
    server = await startPostgres(place);
    writeFileSync(flow, FLOW);
    for (const name of ['one', 'two', 'three']) {
      const args = [flow, childFile('step-agent.ts'), '--data', join(folder, name), '--store', server.url];
      nodes.push(await parleyServe({ args, env: { STEPS_FOLDER: folder, PARLEY_AUTH_FOLDER: join(folder, 'auth') } }));
    }
  }, 120_000);
  afterAll(async () => {
    for (const node of nodes) await node.kill();
    await server?.stop();
  });

  it('continue at another node when theirs is killed, and run no finished step again', { timeout: 180_000 }, async () => {
    const [killed, ...others] = nodes;
    await eventually(async () => expect((await Promise.all(nodes.map(owned))).sort()).toEqual([42, 43, 43]));
    const tasks = await Promise.all(NAMES.map((name) => sendTask(killed?.url ?? '', name, { returnImmediately: true })));
    await eventually(() => NAMES.every((name) => ran(`begin wait one ${name}`) > 0));
    await killed?.kill();
    writeFileSync(join(folder, 'open'), '');
    for (const { url } of others)
      for (const { id } of tasks) await eventually(async () => expect((await getTask(url, id)).status.state).toBe('TASK_STATE_COMPLETED'));
    const texts = await Promise.all(tasks.map(async ({ id }) => JSON.stringify((await getTask(others[0]?.url ?? '', id)).status.message)));
    for (const [at, name] of NAMES.entries()) {
      expect(texts[at]).toContain(`three wait one ${name}`);
      expect(ran(`begin one ${name}`)).toBe(1);
      // The step that was running began again, as its agent's recovery says.
      expect(ran(`begin wait one ${name}`)).toBeGreaterThan(1);
      expect(ran(`begin three wait one ${name}`)).toBe(1);
    }
    // A step that is sent again by the next owner joins the task that it made before.
    expect(await tasksWhere(others[1]?.url ?? '', 'agent=steps&pageSize=100')).toHaveLength(3 * NAMES.length);
  });
});
