import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectMesh, onRealBrokers, send, start, stateOf, stopAll, taskAt } from './nodes.ts';

const ORCHESTRATOR = fileURLToPath(new URL('./children/orchestrator.ts', import.meta.url));

afterEach(stopAll);

interface Result {
  readonly agent: string;
  readonly status: string;
  readonly error?: string;
  readonly text: string;
}
const resultsOf = (task: {
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}): readonly Result[] => JSON.parse(task.artifacts?.[0]?.parts[0]?.text ?? 'null') as readonly Result[];
const call = (agent: string, task_description: string) => ({ agent, task_description });

onRealBrokers('delegation to peers in other processes', (startBroker) => {
  const trio = async (env: Readonly<Record<string, string>> = {}) => {
    const broker = await startBroker();
    // First, so that it sees the others join.
    const orchestrator = await start(broker.url, [ORCHESTRATOR], { env });
    const [script, echo] = await Promise.all([start(broker.url, ['script']), start(broker.url, ['echo'])]);
    await eventually(async () => {
      const probe = await send(orchestrator, JSON.stringify([call('echo', 'there?'), call('script', 'chunks=1')]));
      expect(resultsOf(probe).map(({ status }) => status)).toEqual(['completed', 'completed']);
    });
    return { broker, script, echo, orchestrator };
  };

  it('calls several peers and returns the results in the order of the calls', async () => {
    const { orchestrator } = await trio();
    const task = await send(
      orchestrator,
      JSON.stringify([
        call('script', 'sleep=1200'),
        call('echo', 'second'),
        call('script', 'sleep=1201'),
        call('script', 'fail'),
        call('nobody', 'x'),
      ]),
    );
    expect(resultsOf(task).map(({ agent, status }) => [agent, status])).toEqual([
      ['script', 'completed'],
      ['echo', 'completed'],
      ['script', 'completed'],
      ['script', 'failed'],
      ['nobody', 'failed'],
    ]);
    expect(resultsOf(task)[1]?.text).toBe('second');
    expect(resultsOf(task)[4]?.error).toBe('there is no agent nobody on the mesh');
  });

  it('refuses loops, and requests that were delegated too often', async () => {
    const { orchestrator, broker } = await trio();
    const own = await send(orchestrator, JSON.stringify([call('orchestrator', 'x')]));
    expect(resultsOf(own)[0]?.error).toContain('delegation loop');
    const caller = await connectMesh(broker.url, { kind: 'agent', id: 'far_away' });
    const deep = caller.link({ agent: 'echo', callPath: { depth: 10, agents: [] } });
    await expect(deep.send(caller.request('x'), caller.ctx)).rejects.toThrow('delegated 11 times');
    const back = caller.link({ agent: 'orchestrator', callPath: { depth: 1, agents: ['echo'] } });
    const looped = await back.send(caller.request(JSON.stringify([call('echo', 'x')])), caller.ctx);
    expect(JSON.stringify(looped.task)).toContain('delegation loop');
  });

  it('passes a peer’s question to the caller, and the answer back', async () => {
    const { orchestrator } = await trio();
    const asked = await send(orchestrator, JSON.stringify([call('script', 'ask'), call('echo', 'meanwhile')]));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(JSON.stringify(asked.status.message)).toContain('script: ');
    const done = await send(orchestrator, 'blue', { taskId: asked.id });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(resultsOf(done).map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(resultsOf(done)[0]?.text).toContain('answer: blue');
  });

  it('cancels the tasks of all peers when its task is canceled', async () => {
    const { orchestrator, script } = await trio();
    const begun = await send(
      orchestrator,
      JSON.stringify([call('script', 'sleep=60000'), call('script', 'sleep=60001')]),
      {},
      { returnImmediately: true },
    );
    await eventually(async () => expect(await metricOf(script.url, 'parley_tasks_running')).toBe(2));
    await fetch(`${orchestrator.url}/tasks/${begun.id}:cancel`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect(await stateOf(orchestrator, begun.id)).toBe('TASK_STATE_CANCELED');
    await eventually(async () => expect(await metricOf(script.url, 'parley_tasks_running')).toBe(0));
  });

  it('fails a peer that sends nothing, and not one that sends events', async () => {
    const { orchestrator } = await trio({ PEER_TIMEOUT_MS: '1500' });
    const task = await send(orchestrator, JSON.stringify([call('script', 'sleep=30000'), call('script', 'chunks=6 delay=500')]));
    expect(resultsOf(task).map(({ status }) => status)).toEqual(['failed', 'completed']);
    expect(resultsOf(task)[0]?.error).toContain('sent nothing for 2 s');
    await taskAt(orchestrator, task.id);
  });
});

async function metricOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN);
}
