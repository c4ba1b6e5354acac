import { describe, expect, it } from 'vitest';
import type { A2AService, Agent, ContextId, Part } from '#protocol';
import { A2AError } from '#protocol';
import {
  AT_ONCE,
  agent,
  collect,
  ctx,
  gate,
  quiet,
  reader,
  request,
  said,
  shortly,
  taskOf,
  textOf,
  toTask,
  user,
  wordsOf,
  world,
} from '../../../test/support/engine.ts';
import { createEcho } from '../built-in/echo.ts';
import { createScript } from '../built-in/script.ts';
import { ORIGIN } from './origin.ts';
import type { ProxyOptions } from './proxy.ts';
import { proxyAgent } from './proxy.ts';

/** An origin and the proxy before it, each an engine of its own. */
async function pair(origin: Agent, more: Partial<ProxyOptions> = {}, wrap: (service: A2AService) => A2AService = (service) => service) {
  const there = await world(origin);
  const service = wrap(there.service);
  const here = await world(proxyAgent({ service, card: origin.card, pollMs: 20, ...more }));
  return { there, here };
}

const PARTS: readonly Part[] = [
  { text: 'look' },
  { raw: 'aGVsbG8=', filename: 'a.bin', mediaType: 'application/octet-stream' },
  { url: 'https://files.example.org/b.png', mediaType: 'image/png' },
  { data: { deep: [1, { two: null }] } },
];

describe('a proxied agent', () => {
  it('carries texts, bytes, references and data both ways unchanged', async () => {
    const { here } = await pair(createEcho());
    const task = taskOf(await here.service.send({ message: { ...user(''), parts: PARTS } }, ctx()));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts).toEqual(PARTS);
  });

  it('streams chunk by chunk, and notes what the task is called there', async () => {
    const { here, there } = await pair(createScript());
    const events = await collect(here.service.stream(request('chunks=3'), ctx()));
    expect(shortly(events)).toEqual(['task WORKING', 'WORKING', 'artifact chunks', 'artifact chunks', 'artifact chunks', 'COMPLETED']);
    const [task] = (await here.service.list({}, ctx())).tasks;
    const origin = task?.metadata?.[ORIGIN] as { taskId: string };
    expect((await there.engine.admin.tasks({})).tasks.map(({ id }) => id)).toEqual([origin.taskId]);
  });

  it('passes a question and its answer', async () => {
    const { here, there } = await pair(createScript());
    const asked = taskOf(await here.service.send(request('ask'), ctx()));
    expect([asked.status.state, wordsOf(asked)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'What should I answer?']);
    const answered = taskOf(await here.service.send(toTask(asked, 'blue'), ctx()));
    expect([answered.status.state, textOf(answered)]).toEqual(['TASK_STATE_COMPLETED', 'answer: blue']);
    expect((await there.engine.admin.tasks({})).tasks).toHaveLength(1);
  });

  it('gives a direct message as one', async () => {
    const { here } = await pair(createScript());
    const { message } = await here.service.send(request('message'), ctx());
    expect(message?.parts[0]?.text).toBe('I was told to answer without a task.');
  });

  it.each([
    ['fail', 'TASK_STATE_FAILED', 'I was told to fail.'],
    ['reject', 'TASK_STATE_REJECTED', 'I was told to reject this.'],
  ])('ends as the origin does: %s', async (text, state, words) => {
    const { here } = await pair(createScript());
    const task = taskOf(await here.service.send(request(text), ctx()));
    expect([task.status.state, wordsOf(task)]).toEqual([state, words]);
  });

  it('goes on in the conversation that the origin made, also after a restart', async () => {
    const seen: (string | undefined)[] = [];
    const origin = agent(async function* (turn) {
      seen.push(turn.contextId);
      yield { kind: 'text', text: 'ok' };
    });
    const { here } = await pair(origin);
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

  it('tells the origin of a cancel, while it works and while it waits', async () => {
    const { here, there } = await pair(createScript());
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

  it('says in whose words it was refused', async () => {
    const refusing = (kind: A2AError['kind']) => (service: A2AService) => ({
      ...service,
      async *stream() {
        yield* [];
        throw new A2AError(kind, 'no');
      },
    });
    const { here } = await pair(createEcho(), {}, refusing('UNAUTHENTICATED'));
    const task = taskOf(await here.service.send(request('x'), ctx()));
    expect([task.status.state, wordsOf(task)]).toEqual(['TASK_STATE_FAILED', 'echo does not accept the credentials of this proxy']);
    const other = await pair(createEcho(), {}, refusing('INVALID_PARAMS'));
    expect(wordsOf(taskOf(await other.here.service.send(request('x'), ctx())))).toBe('echo refused: no');
  });
});

describe('a proxied agent whose origin has no streams', () => {
  const without = (service: A2AService): A2AService => ({
    ...service,
    stream: () => failing(new A2AError('METHOD_NOT_FOUND')),
    subscribe: () => failing(new A2AError('METHOD_NOT_FOUND')),
  });

  it('is asked again and again, and streams here', async () => {
    const steps = [gate(), gate()];
    const origin = agent(async function* () {
      yield { kind: 'text', text: 'a' };
      await steps[0]?.wait;
      yield { kind: 'text', text: 'b' };
      await steps[1]?.wait;
      yield { kind: 'text', text: 'c' };
    });
    const { here } = await pair(origin, {}, without);
    const { seen, done } = reader(here.service.stream(request('go'), ctx()));
    await until(() => shortly(seen).includes('artifact response'));
    steps[0]?.open();
    await until(() => shortly(seen).filter((each) => each === 'artifact response').length === 2);
    steps[1]?.open();
    await done;
    expect(textOf(taskOf({ task: (await here.service.list({ includeArtifacts: true }, ctx())).tasks[0] as never }))).toBe('abc');
  });
});

describe('a proxied task that is cut off', () => {
  it('is taken up at the origin after a restart: nothing lost, nothing twice', async () => {
    const step = gate();
    const origin = agent(async function* () {
      yield { kind: 'text', text: 'one ' };
      yield { kind: 'text', text: 'two ' };
      await step.wait;
      yield { kind: 'text', text: 'three' };
    });
    const { here, there } = await pair(origin);
    const { seen } = reader(here.service.stream(request('go'), ctx()));
    await until(() => shortly(seen).filter((each) => each === 'artifact response').length === 2);
    const id = seen[0]?.event.task?.id as never;
    const again = await here.crash();
    const rest = reader(again.service.subscribe({ id }, ctx()));
    await again.time.advance(10_000);
    step.open();
    await rest.done;
    const task = await again.service.get({ id }, ctx());
    expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'one two three']);
    expect(task.artifacts?.[0]?.parts).toHaveLength(3);
    expect((await there.engine.admin.tasks({})).totalSize).toBe(1);
  });

  it('is not sent twice if nobody knows whether it was heard', async () => {
    let sends = 0;
    const { here } = await pair(createEcho(), {}, (service) => ({
      ...service,
      stream: () => {
        sends += 1;
        return never();
      },
    }));
    const task = taskOf(await here.service.send(request('pay', AT_ONCE), ctx()));
    await quiet(20);
    const again = await here.crash();
    await again.time.advance(10_000);
    await quiet(20);
    const after = await again.service.get({ id: task.id }, ctx());
    expect(sends).toBe(1);
    expect([after.status.state, wordsOf(after)]).toEqual([
      'TASK_STATE_FAILED',
      'echo had not answered before the restart. It may have the message, which is not sent twice: look there, or send it again.',
    ]);
  });

  it('goes back to an origin that was away, and gives up after a while', async () => {
    let isAway = false;
    const step = gate();
    const origin = agent(async function* () {
      yield { kind: 'text', text: 'before ' };
      await step.wait;
      yield { kind: 'text', text: 'after' };
    });
    const away = (service: A2AService): A2AService => ({
      ...service,
      get: (asked, call) => (isAway ? Promise.reject(new A2AError('UNAVAILABLE')) : service.get(asked, call)),
      async *stream(asked, call) {
        for await (const batch of service.stream(asked, call)) {
          yield batch;
          if (batch.some(({ event }) => event.artifactUpdate !== undefined)) {
            isAway = true;
            throw new A2AError('UNAVAILABLE', 'cut');
          }
        }
      },
    });
    const { here } = await pair(origin, {}, away);
    const { seen, done } = reader(here.service.stream(request('go'), ctx()));
    await until(() => isAway);
    step.open();
    setTimeout(() => {
      isAway = false;
    }, 150);
    await done;
    expect(shortly(seen).at(-1)).toBe('COMPLETED');
    expect((await here.service.list({ includeArtifacts: true }, ctx())).tasks.map(textOf)).toEqual(['before after']);

    isAway = false;
    const lost = await pair(
      agent(async function* () {
        yield { kind: 'text', text: 'x' };
        await new Promise(() => {});
      }),
      { unreachableMsMax: 50 },
      away,
    );
    const task = taskOf(await lost.here.service.send(request('go'), ctx()));
    expect([task.status.state, wordsOf(task)]).toEqual(['TASK_STATE_FAILED', "test can't be reached"]);
  });
});

describe('an origin that wants a credential', () => {
  const origin = agent(async function* (turn) {
    if (turn.history.length > 0) {
      yield { kind: 'text', text: `got ${turn.message.parts[0]?.text}` };
      return;
    }
    yield { kind: 'auth', request: said('log in') };
  });

  it('gets what the caller says next', async () => {
    const { here } = await pair(origin);
    const task = taskOf(await here.service.send(request('go'), ctx()));
    expect([task.status.state, wordsOf(task)]).toEqual(['TASK_STATE_AUTH_REQUIRED', 'log in']);
    const after = taskOf(await here.service.send(toTask(task, 'done'), ctx()));
    expect([after.status.state, textOf(after)]).toEqual(['TASK_STATE_COMPLETED', 'got done']);
  });

  it('gets it also if we were restarted in between', async () => {
    const { here } = await pair(origin);
    const task = taskOf(await here.service.send(request('go'), ctx()));
    const again = await here.crash();
    const after = taskOf(await again.service.send(toTask(task, 'done'), ctx()));
    expect([after.status.state, textOf(after)]).toEqual(['TASK_STATE_COMPLETED', 'got done']);
  });

  it('may go on by itself', async () => {
    const door = gate();
    const { here } = await pair(
      agent(async function* () {
        yield { kind: 'auth', request: said('log in elsewhere') };
        await door.wait;
        yield { kind: 'text', text: 'thank you' };
      }),
    );
    const task = taskOf(await here.service.send(request('go'), ctx()));
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    door.open();
    await until(async () => (await here.service.get({ id: task.id }, ctx())).status.state === 'TASK_STATE_COMPLETED');
    expect(textOf(await here.service.get({ id: task.id }, ctx()))).toBe('thank you');
  });
});

async function* failing(error: A2AError): AsyncGenerator<never> {
  yield* [];
  throw error;
}

async function* never(): AsyncGenerator<never> {
  yield* [];
  await new Promise(() => {});
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it never became so');
}
