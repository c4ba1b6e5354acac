import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SendRequest, Task, TaskId } from '#protocol';
import { contextId, externalId, taskId } from '#protocol';
import { AT_ONCE, ctx, request, seqsOf, textOf, toTask, user } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import type { EngineNode, NodeOptions, ScriptedRun } from './engines-cluster.ts';
import { Caller, startNode, stopNode } from './engines-cluster.ts';

suiteNeeding('postgresql', hasPostgres, 'engines that share a database', () => {
  const folder = postgresFolder();
  let server: PostgresServer;
  let schema = '';
  let schemas = 0;
  const nodes: EngineNode[] = [];
  let runs: ScriptedRun[] = [];
  let caller: Caller;
  beforeAll(async () => {
    server = await startPostgres(folder);
  }, 120_000);
  afterAll(() => server.stop());
  beforeEach(() => {
    schemas += 1;
    schema = `engines-${schemas}`;
    runs = [];
    caller = new Caller(() => nodes);
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await stopNode(node);
  });
  const join = async (more: NodeOptions & { readonly url?: string } = {}): Promise<EngineNode> => {
    const node = await startNode(more.url ?? server.url, runs, { schema, leaseMs: 60_000, ...more });
    nodes.push(node);
    return node;
  };
  const leave = async (node: EngineNode, ms?: number): Promise<void> => {
    const stopped = stopNode(node, ms);
    await stopped;
    nodes.splice(nodes.indexOf(node), 1);
  };
  const balanced = (): Promise<number> => eventually(() => nodes.every(({ store }) => store.cells?.own().length === 12 / nodes.length));
  const allEvents = async (id: TaskId): Promise<readonly number[]> =>
    (await (nodes[0]?.engine.admin.events({ id }) ?? [])).map((event) => event.seq ?? 0);

  it('make one task of each of 1,000 mixed sends, and every node reads it at once', { timeout: 240_000 }, async () => {
    await join();
    await join();
    await balanced();
    const [one, two] = nodes;
    let fresh = 0;
    const made = new Set<string>();
    const readBack = async (task: Task): Promise<void> => {
      made.add(task.id);
      for (const { service } of nodes) expect((await service.get({ id: task.id }, ctx())).status.state).toBe(task.status.state);
    };
    const kinds: readonly ((n: number) => Promise<readonly Task[]>)[] = [
      // Names neither a task nor a context: never for another node.
      async (n) => {
        const task = await nodes[n % 2]?.service.send(request(`new ${n}`), ctx(n % 3 === 0 ? { idempotencyKey: `new ${n}` } : {}));
        fresh += 1;
        return task?.task === undefined ? [] : [task.task];
      },
      async (n) => [await caller.send(request('', { message: user(`in a context ${n}`, { contextId: contextId(`shared ${n % 40}`) }) }))],
      // The same send at both nodes in the same moment.
      async (n) => {
        const message = user(`twice ${n}`);
        const call = (at?: EngineNode): Promise<Task> => caller.send({ message }, { idempotencyKey: `twice ${n}` }, at);
        const [first, second] = await Promise.all([call(one), call(two)]);
        expect(second?.id).toBe(first?.id);
        return [first];
      },
      // Two messages of one conversation.
      async (n) => {
        const first = await caller.send(request(`first ${n}`));
        const message = user(`second ${n}`, { contextId: contextId(first.contextId ?? '') });
        return [first, await caller.send({ message })];
      },
    ];
    const work = Array.from({ length: 800 }, (_, n) => n);
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let n = work.shift(); n !== undefined; n = work.shift())
          for (const task of (await kinds[n % kinds.length]?.(n)) ?? []) await readBack(task);
      }),
    );
    expect(fresh).toBe(200);
    expect(made.size).toBe(1000);
    for (const { service } of nodes) expect((await service.list({}, ctx())).totalSize).toBe(1000);
    expect(nodes.flatMap(({ broken }) => broken)).toEqual([]);
    expect(nodes.map(({ engine }) => engine.stats().liveTasks)).toEqual([0, 0]);
  });

  it('make one task of a name that they get in the same moment', { timeout: 120_000 }, async () => {
    await join();
    await join();
    await balanced();
    const named = (n: number): SendRequest => ({ message: user(`job ${n}`), alias: externalId(`job ${n}`) });
    const once = { semantics: { taskNames: 'once' } } as const;
    for (let n = 0; n < 40; n += 1) {
      const same = named(n);
      const sent = await Promise.all(nodes.map((at) => caller.send(same, { ...once, idempotencyKey: `job ${n}` }, at)));
      expect(new Set(sent.map(({ id }) => id))).toEqual(new Set([`job ${n}`]));
    }
    expect((await nodes[0]?.service.list({}, ctx()))?.totalSize).toBe(40);
    await expect(nodes[0]?.service.get({ id: taskId('job 0') }, ctx(once))).resolves.toMatchObject({ id: 'job 0' });
  });

  it('pass streams, waiting sends and questions on when a node leaves', { timeout: 120_000 }, async () => {
    const first = await join();
    const asked = await caller.send(request('ask'), {}, first);
    const sends = Array.from({ length: 6 }, (_, n) => caller.send(request(`count 200 ${n}`), {}, first));
    const tasks = await eventuallyTasks(first, 7);
    const followed = tasks.filter((id) => id !== asked.id).map((id) => caller.follow(id));
    await eventually(() => runs.filter(({ text }) => text.startsWith('count')).length === 6);
    const second = await join();
    await leave(first);
    expect((await caller.send(toTask(asked, 'this'), {}, second)).status.state).toBe('TASK_STATE_COMPLETED');
    for (const task of await Promise.all(sends)) {
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(textOf(task)).toContain('200 done');
    }
    for (const events of await Promise.all(followed)) {
      const numbers = seqsOf(events);
      expect(numbers).toEqual(numbers.map((_, at) => at + 1));
      const id = events.at(0)?.event.task?.id ?? taskId('');
      expect(await allEvents(id)).toEqual(numbers);
    }
    expect((await second.service.list({}, ctx())).totalSize).toBe(7);
    expect(second.broken).toEqual([]);
  });

  it('take over from a node that is cut off, which serves again afterwards', { timeout: 120_000 }, async () => {
    const proxy = await startPostgresProxy(server.port);
    const url = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
    const cut = await join({ url, leaseMs: 2000 });
    const sends = Array.from({ length: 4 }, (_, n) => caller.send(request(`count 400 ${n}`), {}, cut));
    const ids = await eventuallyTasks(cut, 4);
    const followed = ids.map((id) => caller.follow(id));
    await eventually(() => runs.length === 4);
    const other = await join({ leaseMs: 2000 });
    proxy.partition();
    for (const task of await Promise.all(sends)) expect(textOf(task)).toContain('400 done');
    for (const { node, turn } of runs) if (node === runs[0]?.node) expect(turn.signal.aborted).toBe(true);
    for (const events of await Promise.all(followed)) {
      const numbers = seqsOf(events);
      expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    }
    // A send that begins a conversation goes to the node that has cells.
    expect((await caller.send(request('hello'), {}, cut)).status.state).toBe('TASK_STATE_COMPLETED');
    proxy.heal();
    await eventually(() => (cut.store.cells?.own().length ?? 0) > 0);
    const again = await eventuallySent(() => cut.service.send(request('again'), ctx()));
    expect(again).toBe('TASK_STATE_COMPLETED');
    expect((await other.service.list({}, ctx())).totalSize).toBe(6);
    expect([...cut.broken, ...other.broken]).toEqual([]);
    for (const node of nodes.splice(0)) await stopNode(node);
    await proxy.close();
  });

  it('cancel a task wherever the call arrives, and one run only acts', { timeout: 120_000 }, async () => {
    await join();
    await join();
    await balanced();
    const started = await Promise.all(nodes.map((at) => caller.send(request('count 5000', AT_ONCE), {}, at)));
    const canceled = await Promise.all(
      started.map(({ id }, n) => caller.call(({ service }) => service.cancel({ id }, ctx()), nodes[(n + 1) % 2])),
    );
    expect(canceled.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
    await eventually(() => runs.every(({ turn }) => turn.signal.aborted));
    expect(runs).toHaveLength(2);
    expect(caller.forwards).toBeGreaterThanOrEqual(2);
  });

  it('delete finished tasks once, each those of its own cells, down to one maximum for all', { timeout: 120_000 }, async () => {
    await join();
    await join();
    await balanced();
    for (let n = 0; n < 40; n += 1) await caller.send(request(`old ${n}`), {}, nodes[n % 2]);
    for (const node of nodes.splice(0)) await stopNode(node);
    const limits = { finishedTasksMax: 12, tickMs: 10, sweepMs: 10 };
    const idle = await join({ limits: { ...limits, sweepMs: 3_600_000 } });
    const sweeping = await join({ limits });
    await balanced();
    const finished = ({ store }: EngineNode): Promise<number> => Promise.resolve(store.finished(store.cells?.own()));
    const before = await finished(idle);
    // It has half of the cells, so it keeps half of the 12, and deletes no task of the other node.
    await eventually(async () => expect(await finished(sweeping)).toBeLessThanOrEqual(6));
    expect(await finished(sweeping)).toBeGreaterThan(0);
    expect(before).toBeGreaterThan(6);
    expect(await finished(idle)).toBe(before);
    await leave(idle);
    await eventually(async () => expect((await sweeping.service.list({}, ctx())).totalSize).toBeLessThanOrEqual(12));
    expect((await sweeping.service.list({}, ctx())).totalSize).toBeGreaterThan(0);
    // Everything that is gone was deleted by the only node that swept, once.
    await eventually(async () =>
      expect(sweeping.engine.stats().forgottenTasks).toBe(40 - ((await sweeping.service.list({}, ctx())).totalSize ?? 0)),
    );
    expect([...idle.broken, ...sweeping.broken]).toEqual([]);
  });

  async function eventuallyTasks({ service }: EngineNode, count: number): Promise<readonly TaskId[]> {
    let found: readonly Task[] = [];
    await eventually(async () => {
      found = (await service.list({}, ctx())).tasks;
      return found.length === count;
    });
    return found.map(({ id }) => id);
  }

  async function eventuallySent(send: () => ReturnType<EngineNode['service']['send']>): Promise<string | undefined> {
    let state: string | undefined;
    await eventually(async () => {
      state = (await send()).task?.status.state;
    });
    return state;
  }
});
