import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Task } from '#protocol';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { freshName, getJson, sendTask } from './client.ts';
import { childFile } from './parley.ts';

const CONVERSATIONS = 12;
const CELLS = 128;

const spoken = ({ artifacts = [] }: Task): string =>
  artifacts
    .filter(({ name }) => name === 'assistant-response')
    .flatMap(({ parts }) => parts.map(({ text = '' }) => text))
    .join('')
    .trim();

suiteNeeding('postgresql', hasPostgres, 'conversations of a program that keeps sessions, on two nodes', () => {
  const [folder, place] = [scratchFolder(), postgresFolder()];
  const nodes: Parley[] = [];
  let ports: readonly number[] = [];
  let server: PostgresServer | undefined;

  const serve = async (at: number): Promise<void> => {
    const data = ['--data', join(folder, `data-${at}`), '--store', server?.url ?? '', '--store-lease-ms', '3000'];
    nodes[at] = await parleyServe({
      args: [childFile('session-agent.ts'), ...data, '--port', String(ports[at])],
      env: { SESSIONS_FOLDER: join(folder, `sessions-${at}`), PARLEY_AUTH_FOLDER: join(folder, 'auth') },
    });
  };
  const urlOf = (at: number): string => `http://127.0.0.1:${ports[at]}`;
  const cells = async (at: number): Promise<readonly number[]> => {
    const { replicas } = (await getJson(`${urlOf(at)}/api/parley/v1/replicas`)) as { readonly replicas: readonly { cells: number }[] };
    return replicas.map(({ cells: owned }) => owned);
  };
  const say = (at: number, contextId: string, text: string): Promise<Task> =>
    sendTask(urlOf(at), text, { contextId, messageId: freshName('said') });

  beforeAll(async () => {
    server = await startPostgres(place);
    ports = [await freePort(), await freePort()];
  }, 120_000);
  afterAll(async () => {
    for (const node of nodes) await node.kill();
    await server?.stop();
  });

  it('stay on their node, fail with the reason where the session is not, and continue where it is', { timeout: 300_000 }, async () => {
    await serve(0);
    const sessions = new Map<string, string>();
    for (let at = 0; at < CONVERSATIONS; at += 1) {
      const task = await sendTask(urlOf(0), 'begin');
      sessions.set(task.contextId ?? '', /^--session (\S+) begin$/.exec(spoken(task))?.[1] ?? '');
    }
    expect(sessions.size).toBe(CONVERSATIONS);

    // The second node gets half of the cells, and none in which a conversation is open.
    await serve(1);
    await eventually(async () => expect(await cells(0)).toEqual([CELLS / 2, CELLS / 2]));
    for (const [context, session] of sessions) expect(spoken(await say(1, context, 'stay'))).toBe(`--resume ${session} stay`);

    await nodes[0]?.kill();
    await eventually(async () => expect(await cells(1)).toEqual([CELLS]));
    const [[context = '', session = ''] = []] = sessions;
    for (const text of ['moved', 'again']) {
      const { status } = await say(1, context, text);
      expect(status.state).toBe('TASK_STATE_FAILED');
      expect(JSON.stringify(status.message)).toContain('is on another node, or was deleted');
    }
    // A new conversation works there.
    expect(spoken(await sendTask(urlOf(1), 'fresh'))).toMatch(/^--session \S+ fresh$/);

    await serve(0);
    expect(await nodes[1]?.stop()).toBe(0);
    await eventually(async () => expect(await cells(0)).toEqual([CELLS]));
    expect(spoken(await say(0, context, 'back'))).toBe(`--resume ${session} back`);
  });
});
