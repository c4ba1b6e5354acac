import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../cli/run.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { getTask, sendTask } from './client.ts';
import { childFile } from './parley.ts';

const GUIDE = readFileSync(fileURLToPath(new URL('../../docs/guides/replicas.md', import.meta.url)), 'utf8');
const MOVING = readFileSync(fileURLToPath(new URL('../../docs/postgres.md', import.meta.url)), 'utf8');

/** The commands of a page that begin so, without `parley`. */
function commandsIn(page: string, start: string): readonly (readonly string[])[] {
  const lines = page.split('\n').filter((line) => line.startsWith(`parley ${start}`));
  return lines.map((line) => [...line.matchAll(/"([^"]*)"|\S+/g)].map(([all, quoted]) => quoted ?? all).slice(1));
}

suiteNeeding('postgresql', hasPostgres, 'docs/guides/replicas.md', () => {
  const [folder, place] = [scratchFolder(), postgresFolder()];
  const ports = new Map<string, number>();
  const nodes: Parley[] = [];
  let server: PostgresServer | undefined;
  let env: Readonly<Record<string, string>> = {};

  /** The same command on a free port, in the scratch folder. */
  const here = (command: readonly string[]): readonly string[] =>
    command.map((word) =>
      word.replace(/\b400\d\b/, (port) => String(ports.get(port))).replace(/^((?:sqlite:)?)\.\//, (_, scheme) => `${scheme}${folder}/`),
    );
  const serve = async (command: readonly string[]): Promise<Parley> =>
    await parleyServe({ args: here(command).slice(1), env: { ...env, KEPT_FOLDER: folder } });
  const replicas = async (): Promise<readonly string[]> => (await run(['replicas'], { env })).out.trim().split('\n');

  beforeAll(async () => {
    server = await startPostgres(place);
    env = { PARLEY_STORE: server.url, PARLEY_AUTH_FOLDER: join(folder, 'auth') };
    for (const port of ['4001', '4002', '4003']) ports.set(port, await freePort());
    writeFileSync(join(folder, 'agent.ts'), `export { default } from ${JSON.stringify(childFile('keeping-agent.ts'))};\n`);
  }, 120_000);
  afterAll(async () => {
    for (const node of nodes) await node.kill();
    await server?.stop();
  });

  it('takes a node with its data from SQLite to three nodes, and survives the loss of one', { timeout: 240_000 }, async () => {
    const single = await parleyServe({
      args: [join(folder, 'agent.ts'), '--data', join(folder, 'data')],
      env: { PARLEY_AUTH_FOLDER: join(folder, 'auth'), KEPT_FOLDER: folder },
    });
    const moved = await sendTask(single.url, 'from before');
    expect(await single.stop()).toBe(0);
    // A node that starts on the database before the copy logs what is missing.
    const early = await serve(['serve', './agent.ts', '--data', './data']);
    expect(early.errors()).toContain('run parley store copy, while the database is empty');
    expect(await early.stop()).toBe(0);
    const [copy = []] = commandsIn(MOVING, 'store copy sqlite:./');
    expect(await run(here(copy), { env })).toMatchObject({ code: 0 });

    const commands = commandsIn(GUIDE, 'serve ./agent.ts --port');
    expect(commands).toHaveLength(3);
    for (const command of commands) nodes.push(await serve(command));
    const row = /^\d+ {2}serves {2}4[23] cells {2}lease \d+\.\d s {2}since \S+Z {2}http:\/\/127\.0\.0\.1:\d+$/;
    const shown = GUIDE.split('\n').filter((line) => row.test(line));
    expect(shown).toHaveLength(3);
    await eventually(async () => expect(await replicas()).toEqual(shown.map(() => expect.stringMatching(row))));
    for (const { url } of nodes) expect((await getTask(url, moved.id)).artifacts).toEqual(moved.artifacts);

    expect(nodes.map((node) => node.errors()).join('')).not.toContain('parley store copy');
    const [ask = []] = commandsIn(GUIDE, 'ask');
    expect(await run(here(ask), { env })).toMatchObject({ code: 0, out: expect.stringContaining('hello') });
    expect(GUIDE).toContain('kill -9 PID');
    await nodes[0]?.kill();
    await eventually(async () => expect(await replicas()).toHaveLength(2));
    expect(await run(here(ask), { env })).toMatchObject({ code: 0 });
    for (const { url } of nodes.slice(1)) expect((await getTask(url, moved.id)).artifacts).toEqual(moved.artifacts);
    nodes[0] = await serve(commands[0] ?? []);
    await eventually(async () => expect(await replicas()).toEqual(shown.map(() => expect.stringMatching(row))));
    nodes.push(await serve(['serve', './agent.ts', '--data', './data']));
    expect(nodes.at(-1)?.errors()).not.toContain('parley store copy');
  });
});
