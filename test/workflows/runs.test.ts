import { describe, expect, test } from 'vitest';
import { createEngine } from '#engine';
import type { A2AService, Agent, AgentOutput, Json, JsonObject, Task, Turn } from '#protocol';
import { createDataPart, createUserMessage, isDataPart } from '#protocol';
import { readWorkflow, workflowAgent } from '#workflows';
import { memoryBlobs, memoryStore } from '../../src/engine/adapters/memory.ts';
import { ajvValidate } from '../../src/workflows/adapters/ajv.ts';
import { agent, ctx, said, taskOf } from '../support/engine.ts';

type Work = (input: JsonObject, turn: Turn) => Json | Promise<Json> | AsyncIterable<AgentOutput>;

/** An agent that maps data to data. It fails with the error that it throws. */
function worker(work: Work): Agent {
  return agent(async function* (turn) {
    const input = (turn.message.parts.find(isDataPart)?.data ?? {}) as JsonObject;
    try {
      const made = work(input, turn);
      if (typeof made === 'object' && made !== null && Symbol.asyncIterator in made) yield* made;
      else yield { kind: 'data', data: await made };
    } catch (thrown) {
      yield { kind: 'fail', reason: said((thrown as Error).message) };
    }
  });
}

interface Ran {
  readonly task: Task;
  readonly output: Json | undefined;
  readonly reason: string;
}

/** Runs a workflow and its agents in one engine. */
async function host(definition: JsonObject, workers: Readonly<Record<string, Work>>): Promise<A2AService> {
  const services = new Map<string, A2AService>();
  const workflow = readWorkflow({ description: 'For tests.', output_mapping: {}, ...definition });
  const flow = workflowAgent(workflow, { findAgent: (name) => services.get(name), validate: ajvValidate() });
  const agents = { flow, ...Object.fromEntries(Object.entries(workers).map(([name, work]) => [name, worker(work)])) };
  const engine = createEngine({ agents, store: memoryStore(), blobs: memoryBlobs() });
  await engine.start();
  for (const name of Object.keys(agents)) services.set(name, engine.serviceOf(name));
  return engine.serviceOf('flow');
}

async function run(definition: JsonObject, workers: Readonly<Record<string, Work>>, input: JsonObject = {}): Promise<Ran> {
  const service = await host(definition, workers);
  return seen(taskOf(await service.send({ message: createUserMessage([createDataPart(input)]) }, ctx())));
}

function seen(task: Task): Ran {
  const output = task.artifacts?.find(({ artifactId }) => artifactId === 'result')?.parts.find(isDataPart)?.data;
  return { task, output, reason: task.status.message?.parts[0]?.text ?? '' };
}

const node = (id: string, agentName: string, more: JsonObject = {}): JsonObject => ({ id, type: 'agent', agent_name: agentName, ...more });
const add: Work = ({ a, b }) => ({ sum: Number(a) + Number(b) });
const fails: Work = () => {
  throw new Error('broken on purpose');
};

describe('a workflow', () => {
  test('passes outputs between nodes, and returns its output mapping', async () => {
    const definition = {
      nodes: [
        node('one', 'add', { input: { a: '{{workflow.input.x}}', b: 1 } }),
        node('two', 'add', { depends_on: ['one'], input: { a: '{{one.output.sum}}', b: '{{workflow.input.x}}' } }),
      ],
      output_mapping: { total: '{{two.output.sum}}', text: 'x was {{workflow.input.x}}' },
    };
    const { task, output } = await run(definition, { add }, { x: 20 });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(output).toEqual({ total: 41, text: 'x was 20' });
  });

  test('runs independent nodes concurrently', async () => {
    let together = 0;
    let most = 0;
    const both = Promise.withResolvers<void>();
    const meet: Work = async () => {
      together += 1;
      most = Math.max(most, together);
      if (together === 2) both.resolve();
      await both.promise;
      together -= 1;
      return {};
    };
    await run({ nodes: [node('a', 'meet'), node('b', 'meet')] }, { meet });
    expect(most).toBe(2);
  });

  test('a switch runs one branch and skips the nodes that only the others lead to', async () => {
    const seenBy: string[] = [];
    const note: Work = ({ at }) => {
      seenBy.push(String(at));
      return { at: at ?? null };
    };
    const nodes = [
      { id: 'which', type: 'switch', cases: [{ condition: '{{workflow.input.n}} > 10', node: 'big' }], default: 'small' },
      node('big', 'note', { input: { at: 'big' } }),
      node('small', 'note', { input: { at: 'small' } }),
      node('after_big', 'note', { depends_on: ['big'], input: { at: 'after_big' } }),
      node('end', 'note', { depends_on: ['big', 'small'], input: { at: { coalesce: ['{{big.output.at}}', '{{small.output.at}}'] } } }),
    ];
    const { output } = await run(
      { nodes, output_mapping: { end: '{{end.output.at}}', skipped: '{{after_big.status}}' } },
      { note },
      { n: 3 },
    );
    expect(seenBy).toEqual(['small', 'small']);
    expect(output).toEqual({ end: 'small', skipped: 'skipped' });
  });

  test('a map keeps the order of its list and its concurrency limit', async () => {
    let now = 0;
    let most = 0;
    const square: Work = async ({ n, at }) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 5 * (5 - Number(n))));
      now -= 1;
      return { at: at ?? null, value: Number(n) ** 2 };
    };
    const nodes = [
      { id: 'each', type: 'map', items: '{{workflow.input.list}}', node: 'one', concurrency_limit: 2 },
      node('one', 'square', { input: { n: '{{_map_item}}', at: '{{_map_index}}' } }),
    ];
    const { output } = await run({ nodes, output_mapping: { all: '{{each.output.results}}' } }, { square }, { list: [1, 2, 3, 4] });
    expect(output).toEqual({ all: [1, 4, 9, 16].map((value, at) => ({ at, value })) });
    expect(most).toBe(2);
  });

  test('a loop repeats while its condition is true, up to its maximum', async () => {
    const count: Work = ({ i }) => ({ i: i ?? null, more: Number(i) < 2 });
    const nodes = (most: number): Json[] => [
      { id: 'again', type: 'loop', node: 'step', condition: '{{step.output.more}}', max_iterations: most },
      node('step', 'count', { input: { i: '{{_loop_iteration}}' } }),
    ];
    const output_mapping = { i: '{{again.output.i}}', times: '{{again.output.iterations}}' };
    expect((await run({ nodes: nodes(10), output_mapping }, { count })).output).toEqual({ i: 2, times: 3 });
    expect((await run({ nodes: nodes(2), output_mapping }, { count })).reason).toContain('the maximum of 2 iterations');
  });

  test('a failed node is retried up to its limit, if the policy covers the failure', async () => {
    let calls = 0;
    const flaky: Work = () => {
      calls += 1;
      if (calls < 3) throw new Error('not yet');
      return { calls };
    };
    const retry_strategy = { limit: 3, backoff: { duration: '0s' } };
    const { output } = await run({ nodes: [node('a', 'flaky')], retry_strategy, output_mapping: { n: '{{a.output.calls}}' } }, { flaky });
    expect(output).toEqual({ n: 3 });
    const onError = { limit: 3, retry_policy: 'OnError' };
    calls = 0;
    expect((await run({ nodes: [node('a', 'flaky')], retry_strategy: onError }, { flaky })).reason).toBe('not yet');
    expect(calls).toBe(1);
  });

  test('the first failure keeps other nodes from starting, and exit nodes get the error', async () => {
    const begun: string[] = [];
    const note: Work = ({ at }) => {
      begun.push(String(at));
      return {};
    };
    const nodes = [
      node('bad', 'fails'),
      node('after', 'note', { depends_on: ['bad'], input: { at: 'after' } }),
      node('sorry', 'note', { input: { at: 'sorry: {{workflow.error}}' } }),
      node('good', 'note', { input: { at: 'good' } }),
      node('always', 'note', { input: { at: 'always {{workflow.status}}' } }),
    ];
    const on_exit = { on_failure: 'sorry', on_success: 'good', always: 'always' };
    const { task, reason } = await run({ nodes, on_exit }, { fails, note });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(reason).toBe('broken on purpose');
    expect(begun).toEqual(['sorry: broken on purpose', 'always error']);
  });

  test('without fail_fast nodes that do not depend on the failed one run', async () => {
    let isOther = false;
    const other: Work = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      isOther = true;
      return {};
    };
    const nodes = [node('bad', 'fails'), node('first', 'other'), node('second', 'other', { depends_on: ['first'] })];
    const { task } = await run({ nodes, fail_fast: false }, { fails, other });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(isOther).toBe(true);
    expect(task.artifacts?.map(({ name }) => name)).toContain('second');
  });

  test('validates the input, the nodes’ outputs and the output', async () => {
    const schema = (name: string): JsonObject => ({ type: 'object', properties: { [name]: { type: 'number' } }, required: [name] });
    const nodes = [node('a', 'add', { input: { a: '{{workflow.input.x}}', b: 1 }, output_schema_override: schema('sum') })];
    const definition = { nodes, input_schema: schema('x'), output_schema: schema('y'), output_mapping: { y: '{{a.output.sum}}' } };
    const rejected = await run(definition, { add }, { x: 'one' });
    expect(rejected.task.status.state).toBe('TASK_STATE_REJECTED');
    expect(rejected.reason).toContain('value/x must be number');
    expect((await run(definition, { add }, { x: 1 })).output).toEqual({ y: 2 });
    expect((await run(definition, { add: () => ({ sum: 'many' }) }, { x: 1 })).reason).toContain('does not match its schema');
  });

  test('passes a node’s question to the caller, and the answer back', async () => {
    const asking: Work = async function* (_, turn) {
      const answer = await turn.ask(said('Which colour?'));
      yield { kind: 'data', data: { colour: answer.parts[0]?.text ?? '' } };
    };
    const service = await host({ nodes: [node('a', 'asking')], output_mapping: { colour: '{{a.output.colour}}' } }, { asking });
    const waiting = taskOf(await service.send({ message: createUserMessage('go') }, ctx()));
    expect(waiting.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Which colour?' }] } });
    const done = taskOf(await service.send({ message: { ...createUserMessage('blue'), taskId: waiting.id } }, ctx()));
    expect(seen(done).output).toEqual({ colour: 'blue' });
  });

  test('a cancel stops running agents', async () => {
    const stopped = Promise.withResolvers<string>();
    const hangs: Work = (_, turn) =>
      new Promise((_resolve, reject) => {
        turn.signal.addEventListener('abort', () => {
          stopped.resolve('stopped');
          reject(new Error('stopped'));
        });
      });
    const service = await host({ nodes: [node('a', 'hangs')] }, { hangs });
    const { id } = taskOf(await service.send({ message: createUserMessage('go'), configuration: { returnImmediately: true } }, ctx()));
    await expect.poll(async () => (await service.get({ id }, ctx())).status.message?.parts[0]?.text).toBe('a: started');
    expect((await service.cancel({ id }, ctx())).status.state).toBe('TASK_STATE_CANCELED');
    expect(await stopped.promise).toBe('stopped');
  });

  test('reports an unknown agent', async () => {
    expect((await run({ nodes: [node('a', 'nobody')] }, {})).reason).toBe('there is no agent nobody');
  });
});
