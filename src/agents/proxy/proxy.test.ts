import { describe, expect, it } from 'vitest';
import type { A2AService, ContextId, Part } from '#protocol';
import { A2AError, ORIGIN_NOTE } from '#protocol';
import {
  AT_ONCE,
  agent,
  collect,
  ctx,
  gate,
  quiet,
  request,
  said,
  shortly,
  taskOf,
  textOf,
  toTask,
  user,
  wordsOf,
} from '../../../test/support/engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { proxied } from '../../../test/support/proxied.ts';
import { createEcho } from '../built-in/echo.ts';
import { createScript } from '../built-in/script.ts';

const PARTS: readonly Part[] = [
  { text: 'look' },
  { raw: 'aGVsbG8=', filename: 'a.bin', mediaType: 'application/octet-stream' },
  { url: 'https://files.example.org/b.png', mediaType: 'image/png' },
  { data: { deep: [1, { two: null }] } },
];

describe('a proxied agent', () => {
  it('passes text, bytes, links and data unchanged in both directions', async () => {
    const { here } = await proxied(createEcho());
    const task = taskOf(await here.service.send({ message: { ...user(''), parts: PARTS } }, ctx()));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts).toEqual(PARTS);
  });

  it('streams chunk by chunk, and stores the origin’s task id', async () => {
    const { here, there } = await proxied(createScript());
    const events = await collect(here.service.stream(request('chunks=3'), ctx()));
    expect(shortly(events)).toEqual(['task WORKING', 'WORKING', 'artifact chunks', 'artifact chunks', 'artifact chunks', 'COMPLETED']);
    const [task] = (await here.service.list({}, ctx())).tasks;
    const origin = task?.metadata?.[ORIGIN_NOTE] as { taskId: string };
    expect((await there.engine.admin.tasks({})).tasks.map(({ id }) => id)).toEqual([origin.taskId]);
  });

  it('passes a question and its answer', async () => {
    const { here, there } = await proxied(createScript());
    const asked = taskOf(await here.service.send(request('ask'), ctx()));
    expect([asked.status.state, wordsOf(asked)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'What should I answer?']);
    const answered = taskOf(await here.service.send(toTask(asked, 'blue'), ctx()));
    expect([answered.status.state, textOf(answered)]).toEqual(['TASK_STATE_COMPLETED', 'answer: blue']);
    expect((await there.engine.admin.tasks({})).tasks).toHaveLength(1);
  });

  it('returns a direct message of the origin as a direct message', async () => {
    const { here } = await proxied(createScript());
    const { message } = await here.service.send(request('message'), ctx());
    expect(message?.parts[0]?.text).toBe('The message asked for an answer without a task.');
  });

  it.each([
    ['fail', 'TASK_STATE_FAILED', 'The message asked me to fail.'],
    ['reject', 'TASK_STATE_REJECTED', 'The message asked me to reject this.'],
  ])('ends as the origin does: %s', async (text, state, words) => {
    const { here } = await proxied(createScript());
    const task = taskOf(await here.service.send(request(text), ctx()));
    expect([task.status.state, wordsOf(task)]).toEqual([state, words]);
  });

  it('continues the conversation that the origin created, also after a restart', async () => {
    const seen: (string | undefined)[] = [];
    const origin = agent(async function* (turn) {
      seen.push(turn.contextId);
      yield { kind: 'text', text: 'ok' };
    });
    const { here } = await proxied(origin);
    const first = taskOf(await here.service.send(request('one'), ctx()));
    const contextId = first.contextId as ContextId;
    await here.service.send({ message: user('two', { contextId }) }, ctx());
    const again = await here.crash();
    await again.service.send({ message: user('three', { contextId }) }, ctx());
    await again.service.send(request('another'), ctx());
    expect(seen[1]).toBe(seen[0]);
    expect(seen[2]).toBe(seen[0]);
    expect(seen[3]).not.toBe(seen[0]);
    expect(seen[0]).not.toBe(first.contextId);
  });

  it('cancels the task at the origin, while it works and while it waits', async () => {
    const { here, there } = await proxied(createScript());
    const working = taskOf(await here.service.send(request('sleep=60000', AT_ONCE), ctx()));
    await quiet(20);
    await here.service.cancel({ id: working.id }, ctx());
    await there.time.advance(1000); // only now does the origin name its task
    const waiting = taskOf(await here.service.send(request('ask'), ctx()));
    await here.service.cancel({ id: waiting.id }, ctx());
    await quiet(20);
    const states = (await there.engine.admin.tasks({})).tasks.map(({ state }) => state);
    expect(states).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
  });

  it('marks the origin’s error as the origin’s', async () => {
    const refusing = (kind: A2AError['kind']) => (service: A2AService) => ({
      ...service,
      async *stream() {
        yield* [];
        throw new A2AError(kind, 'no');
      },
    });
    const { here } = await proxied(createEcho(), {}, refusing('UNAUTHENTICATED'));
    const task = taskOf(await here.service.send(request('x'), ctx()));
    expect([task.status.state, wordsOf(task)]).toEqual(['TASK_STATE_FAILED', 'echo does not accept the credentials of this proxy']);
    const other = await proxied(createEcho(), {}, refusing('INVALID_PARAMS'));
    expect(wordsOf(taskOf(await other.here.service.send(request('x'), ctx())))).toBe('echo refused: no');
  });
});

describe('an origin that needs a credential', () => {
  const origin = agent(async function* (turn) {
    if (turn.history.length > 0) {
      yield { kind: 'text', text: `got ${turn.message.parts[0]?.text}` };
      return;
    }
    yield { kind: 'auth', request: said('log in') };
  });

  it('gets the caller’s next message', async () => {
    const { here } = await proxied(origin);
    const task = taskOf(await here.service.send(request('go'), ctx()));
    expect([task.status.state, wordsOf(task)]).toEqual(['TASK_STATE_AUTH_REQUIRED', 'log in']);
    const after = taskOf(await here.service.send(toTask(task, 'done'), ctx()));
    expect([after.status.state, textOf(after)]).toEqual(['TASK_STATE_COMPLETED', 'got done']);
  });

  it('gets it even after a restart of the proxy', async () => {
    const { here } = await proxied(origin);
    const task = taskOf(await here.service.send(request('go'), ctx()));
    const again = await here.crash();
    const after = taskOf(await again.service.send(toTask(task, 'done'), ctx()));
    expect([after.status.state, textOf(after)]).toEqual(['TASK_STATE_COMPLETED', 'got done']);
  });

  it('may continue by itself', async () => {
    const door = gate();
    const { here } = await proxied(
      agent(async function* () {
        yield { kind: 'auth', request: said('log in elsewhere') };
        await door.wait;
        yield { kind: 'text', text: 'thank you' };
      }),
    );
    const task = taskOf(await here.service.send(request('go'), ctx()));
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    door.open();
    await eventually(async () => (await here.service.get({ id: task.id }, ctx())).status.state === 'TASK_STATE_COMPLETED');
    expect(textOf(await here.service.get({ id: task.id }, ctx()))).toBe('thank you');
  });
});
