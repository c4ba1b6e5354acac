import { describe, expect, it } from 'vitest';
import type { A2AService } from '#protocol';
import { A2AError } from '#protocol';
import { AT_ONCE, agent, ctx, gate, quiet, reader, request, shortly, taskOf, textOf, wordsOf } from '../../../test/support/engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { proxied } from '../../../test/support/proxied.ts';
import { createEcho } from '../built-in/echo.ts';

describe('a proxied agent whose origin has no streams', () => {
  const without = (service: A2AService): A2AService => ({
    ...service,
    stream: () => failing(new A2AError('METHOD_NOT_FOUND')),
    subscribe: () => failing(new A2AError('METHOD_NOT_FOUND')),
  });

  it('is polled, and streams to our callers', async () => {
    const steps = [gate(), gate()];
    const origin = agent(async function* () {
      yield { kind: 'text', text: 'a' };
      await steps[0]?.wait;
      yield { kind: 'text', text: 'b' };
      await steps[1]?.wait;
      yield { kind: 'text', text: 'c' };
    });
    const { here } = await proxied(origin, {}, without);
    const { seen, done } = reader(here.service.stream(request('go'), ctx()));
    await eventually(() => shortly(seen).includes('artifact response'));
    steps[0]?.open();
    await eventually(() => shortly(seen).filter((each) => each === 'artifact response').length === 2);
    steps[1]?.open();
    await done;
    expect(textOf(taskOf({ task: (await here.service.list({ includeArtifacts: true }, ctx())).tasks[0] as never }))).toBe('abc');
  });
});

describe('a proxied agent whose card rules out streams', () => {
  it('is polled and never asked for a stream, which fasta2a answers with HTTP 500', async () => {
    const step = gate();
    const origin = agent(async function* () {
      await step.wait;
      yield { kind: 'text', text: 'done' };
    });
    const broken = (): never => {
      throw new A2AError('INVALID_AGENT_RESPONSE', 'HTTP 500 with text/plain is not a JSON-RPC answer');
    };
    const card = { ...origin.card, capabilities: { ...origin.card.capabilities, streaming: false } };
    const { here } = await proxied(origin, { card }, (service) => ({ ...service, stream: broken, subscribe: broken }));
    const { seen, done } = reader(here.service.stream(request('go'), ctx()));
    await eventually(() => seen.length > 0);
    step.open();
    await done;
    expect(textOf(taskOf({ task: (await here.service.list({ includeArtifacts: true }, ctx())).tasks[0] as never }))).toBe('done');
  });
});

describe('an interrupted proxied task', () => {
  it('is resumed at the origin after a restart, without loss or repetition', async () => {
    const step = gate();
    const origin = agent(async function* () {
      yield { kind: 'text', text: 'one ' };
      yield { kind: 'text', text: 'two ' };
      await step.wait;
      yield { kind: 'text', text: 'three' };
    });
    const { here, there } = await proxied(origin);
    const { seen } = reader(here.service.stream(request('go'), ctx()));
    await eventually(() => shortly(seen).filter((each) => each === 'artifact response').length === 2);
    const id = seen[0]?.event.task?.id as never;
    const again = await here.crash();
    const rest = reader(again.service.subscribe({ id }, ctx()));
    await again.time.advance(10_000);
    step.open();
    await rest.done;
    const task = await again.service.get({ id }, ctx());
    expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'one two three']);
    expect(task.artifacts?.[0]?.parts).toHaveLength(1);
    expect((await there.engine.admin.tasks({})).totalSize).toBe(1);
  });

  it('is found at the origin by its message, if the restart came before the origin’s answer', async () => {
    const step = gate();
    const origin = agent(async function* () {
      await step.wait;
      yield { kind: 'text', text: 'found' };
    });
    const { here, there } = await proxied(origin, {}, (service) => ({
      ...service,
      async *stream(asked, call) {
        await service.send({ ...asked, ...AT_ONCE }, call);
        yield* never();
      },
    }));
    const task = taskOf(await here.service.send(request('pay', AT_ONCE), ctx()));
    await eventually(async () => (await there.engine.admin.tasks({})).totalSize === 1);
    const again = await here.crash();
    const rest = reader(again.service.subscribe({ id: task.id }, ctx()));
    await again.time.advance(10_000);
    step.open();
    await rest.done;
    const after = await again.service.get({ id: task.id }, ctx());
    expect([after.status.state, textOf(after)]).toEqual(['TASK_STATE_COMPLETED', 'found']);
    expect((await there.engine.admin.tasks({})).totalSize).toBe(1);
  });

  it('is not sent again if the origin may have received it', async () => {
    let sends = 0;
    const { here } = await proxied(createEcho(), {}, (service) => ({
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
      'echo had not answered before the restart. It may have received the message, so the message is not sent again automatically. Check there, or send it again.',
    ]);
  });

  it('reconnects to an unreachable origin, and gives up after a timeout', async () => {
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
    const { here } = await proxied(origin, {}, away);
    const { seen, done } = reader(here.service.stream(request('go'), ctx()));
    await eventually(() => isAway);
    step.open();
    setTimeout(() => {
      isAway = false;
    }, 150);
    await done;
    expect(shortly(seen).at(-1)).toBe('COMPLETED');
    expect((await here.service.list({ includeArtifacts: true }, ctx())).tasks.map(textOf)).toEqual(['before after']);

    isAway = false;
    const lost = await proxied(
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

async function* failing(error: A2AError): AsyncGenerator<never> {
  yield* [];
  throw error;
}

async function* never(): AsyncGenerator<never> {
  yield* [];
  await new Promise(() => {});
}
