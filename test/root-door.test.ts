import { connect, defineAgent, isClientError, serve } from 'parley-a2a';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QUIET } from './support/server.ts';

const agent = defineAgent({
  name: 'hello',
  description: 'Greets.',
  run: (turn) => {
    if (turn.text === 'fail') throw new Error('the database password is wrong');
    return turn.text === 'data' ? { total: 42 } : `Hello, ${turn.text}!`;
  },
});

let node: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  node = await serve(agent, { port: 0, log: QUIET });
});
afterAll(() => node.close());

it('has both sides of hello world', async () => {
  expect(await (await connect(node.url)).send('Ada').text()).toBe('Hello, Ada!');
});

it('gives data as text if there is nothing else', async () => {
  expect(await (await connect(node.url)).send('data').text()).toBe('{"total":42}');
});

it('throws a typed error for a failed task, with the reason of the agent', async () => {
  const thrown: unknown = await (await connect(node.url))
    .send('fail')
    .text()
    .catch((error: unknown) => error);
  expect(isClientError(thrown) && [thrown.kind, thrown.what, thrown.why]).toEqual([
    'task-failed',
    'the task failed',
    'The agent failed unexpectedly.',
  ]);
  const { task } = await (await connect(node.url)).send('fail').result();
  expect(task?.status.state).toBe('TASK_STATE_FAILED');
});
