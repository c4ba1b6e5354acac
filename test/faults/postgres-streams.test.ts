import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import type { PostgresProxy } from '../support/postgres-proxy.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { StreamedAnswer } from '../support/stream-callers.ts';
import { STREAM_CALLERS } from '../support/stream-callers.ts';
import { chunksText } from './client.ts';
import { operate } from './replicas/audit.ts';
import type { Fleet, FleetNode } from './replicas/fleet.ts';
import { startFleet } from './replicas/fleet.ts';

const CHUNKS = 60;
const WHOLE = { text: chunksText(CHUNKS), isWhole: true };

suiteNeeding('postgresql', hasPostgres, 'streams of every binding whose task goes to another node', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  /** A cell that this node owns. */
  const cellOf = async ({ database }: Fleet, { url }: FleetNode): Promise<number> => {
    const owned = `SELECT c.cell FROM parley.cells c JOIN parley.replicas r USING (replica) WHERE r.url = '${url}' LIMIT 1`;
    let cell: number | undefined;
    await eventually(async () => {
      cell = (await operate<{ cell: number }>(database, owned))[0]?.cell;
      return cell !== undefined;
    });
    return cell ?? 0;
  };

  /** Starts a stream of each binding at `at`, for conversations of `owner`. Resolves when each has shown something. */
  const streamAll = async (
    fleet: Fleet,
    at: FleetNode,
    owner: FleetNode,
  ): Promise<{ readonly answers: Promise<readonly (readonly [string, StreamedAnswer])[]> }> => {
    const cell = (await cellOf(fleet, owner)).toString(36);
    const shown = new Set<string>();
    const answers = Promise.all(
      STREAM_CALLERS.map(async ({ name, stream }) => {
        const said = { text: `chunks=${CHUNKS} delay=100`, contextId: `conv_${randomUUID()}~${cell}`, onText: () => shown.add(name) };
        return [name, await stream(at.url, said)] as const;
      }),
    );
    answers.catch(() => {}); // awaited by the caller
    await Promise.race([answers, eventually(() => expect([...shown].sort()).toEqual(STREAM_CALLERS.map(({ name }) => name).sort()))]);
    return { answers };
  };
  const expectWhole = async (answers: Promise<readonly (readonly [string, StreamedAnswer])[]>): Promise<void> => {
    for (const [name, answer] of await answers) expect([name, answer]).toMatchObject([name, WHOLE]);
  };
  const ofTasks = async ({ database }: Fleet): Promise<number | undefined> =>
    (await operate<{ n: number }>(database, 'SELECT count(*)::int AS n FROM parley.tasks'))[0]?.n;

  it.each([
    ['is killed', 'SIGKILL'],
    ['drains', 'SIGTERM'],
  ] as const)('are complete, each piece once, if the node that runs it %s', { timeout: 180_000 }, async (_, signal) => {
    const fleet = await startFleet(postgres, { database: `streams_${signal.toLowerCase()}`, data, running: 2 });
    await fleet.allReady();
    const [entry, owner] = fleet.nodes;
    if (entry === undefined || owner === undefined) throw new Error('two nodes should run');
    const { answers } = await streamAll(fleet, entry, owner);
    await fleet.end(owner, signal, false);
    await expectWhole(answers);
    expect(await ofTasks(fleet)).toBe(STREAM_CALLERS.length);
    await fleet.stop();
  });

  it('end their task at the other node, if they are of OpenAI and their caller leaves', { timeout: 180_000 }, async () => {
    const fleet = await startFleet(postgres, { database: 'streams_left', data, running: 2 });
    await fleet.allReady();
    const [entry, owner] = fleet.nodes;
    if (entry === undefined || owner === undefined) throw new Error('two nodes should run');
    const cell = (await cellOf(fleet, owner)).toString(36);
    const contextId = (): string => `conv_${randomUUID()}~${cell}`;
    const left = new AbortController();
    const post = (path: string, body: object): void => {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ model: 'script', ...body }) };
      void fetch(`${entry.url}${path}`, { ...init, signal: left.signal }).catch(() => {});
    };
    const content = 'sleep=600000';
    post('/v1/chat/completions', { messages: [{ role: 'user', content }], metadata: { contextId: contextId() } });
    post('/v1/responses', { input: content, conversation: contextId() });
    const states = async (): Promise<readonly string[]> => {
      const { tasks } = (await (await fetch(`${owner.url}/tasks`)).json()) as { tasks: { status: { state: string } }[] };
      return tasks.map(({ status: { state } }) => state);
    };
    await eventually(async () => expect(await states()).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_WORKING']));
    left.abort();
    await eventually(async () => expect(await states()).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']));
    await fleet.stop();
  });

  it('are complete at the port of a node that loses the task', { timeout: 180_000 }, async () => {
    const proxy: PostgresProxy = await startPostgresProxy(postgres.port);
    const databasePort = (at: number): number => (at === 0 ? proxy.port : postgres.port);
    const fleet = await startFleet(postgres, { database: 'streams_lost', data, running: 2, databasePort });
    await fleet.allReady();
    const [owner] = fleet.nodes;
    if (owner === undefined) throw new Error('two nodes should run');
    const { answers } = await streamAll(fleet, owner, owner);
    proxy.partition();
    await eventually(async () => (await operate(fleet.database, `SELECT 1 FROM parley.replicas WHERE url = '${owner.url}'`)).length === 0);
    proxy.heal();
    await expectWhole(answers);
    expect(await ofTasks(fleet)).toBe(STREAM_CALLERS.length);
    await fleet.stop();
    await proxy.close();
  });
});
