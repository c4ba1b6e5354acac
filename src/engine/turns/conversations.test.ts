import { describe, expect, it } from 'vitest';
import type { Agent, ContextId } from '#protocol';
import { contextId } from '#protocol';
import { agent, BOB, ctx, echo, fakeTime, gate, quiet, taskOf, textOf, user, wordsOf, world } from '../../../test/support/engine.ts';

interface Conversation {
  readonly of: ContextId;
  readonly nth: number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Records what it opened and what was disposed of. */
function opener(more: Partial<Agent> = {}) {
  const opened: string[] = [];
  const closed: string[] = [];
  const run: Agent = agent(
    async function* ({ opened }) {
      const { of, nth } = opened as Conversation;
      yield { kind: 'text', text: `${of} ${nth}` };
    },
    {
      open: async (of): Promise<Conversation> => {
        const nth = opened.push(of);
        return { of, nth, [Symbol.asyncDispose]: async () => void closed.push(`${of} ${nth}`) };
      },
      ...more,
    },
  );
  return { run, opened, closed };
}

const say = (context: string) => ({ message: user('hi', { contextId: contextId(context) }) });

describe('the state of a conversation', () => {
  it('is opened once for a context and used in every turn of it', async () => {
    const { run, opened } = opener();
    const { service, engine } = await world(run);
    for (let at = 0; at < 3; at += 1) expect(textOf(taskOf(await service.send(say('a'), ctx())))).toBe('a 1');
    await Promise.all([service.send(say('b'), ctx()), service.send(say('b'), ctx())]);
    expect(opened).toEqual(['a', 'b']);
    expect(engine.stats().openContexts).toBe(2);
  });

  it('belongs to one caller: the same context id from another is another conversation', async () => {
    const { run, opened } = opener();
    const { service } = await world(run);
    await service.send(say('a'), ctx());
    expect(textOf(taskOf(await service.send(say('a'), ctx({ principal: BOB }))))).toBe('a 2');
    expect(textOf(taskOf(await service.send(say('a'), ctx({ tenant: 'x' as never }))))).toBe('a 3');
    expect(opened).toHaveLength(3);
  });

  it('is closed when long unused, and opened again when needed', async () => {
    const { run, closed } = opener();
    const time = fakeTime();
    const { service, engine } = await world(run, { limits: { openContextMsMax: 60_000, sweepMs: 10_000 } }, time);
    await service.send(say('a'), ctx());
    await time.advance(50_000);
    await service.send(say('b'), ctx());
    await time.advance(30_000);
    await quiet();
    expect(closed).toEqual(['a 1']);
    expect(engine.stats().openContexts).toBe(1);
    expect(textOf(taskOf(await service.send(say('a'), ctx())))).toBe('a 3');
  });

  it('is closed to make room, longest unused first, but never while in use', async () => {
    const open = gate();
    const held = opener();
    const waits = agent(
      async function* (turn) {
        if (turn.contextId === 'busy') await open.wait;
        yield* held.run.run(turn);
      },
      held.run.open === undefined ? {} : { open: held.run.open },
    );
    const { service, engine } = await world(waits, { limits: { openContextsMax: 2 } });
    const busy = service.send(say('busy'), ctx());
    for (const each of ['a', 'b', 'c', 'a']) await service.send(say(each), ctx());
    await quiet();
    expect(held.closed).toEqual(['a 2', 'b 3', 'c 4']);
    expect(engine.stats().openContexts).toBe(2);
    open.open();
    await busy;
    await service.send(say('d'), ctx());
    await quiet();
    expect(held.closed).toContain('busy 1');
  });

  it('that can’t be opened fails the task, and the next task tries again', async () => {
    let attempts = 0;
    const { run } = opener({
      open: async (of) => {
        attempts += 1;
        if (attempts === 1) throw new Error('no key');
        return { of, nth: attempts };
      },
    });
    const { service, engine } = await world(run);
    const failed = taskOf(await service.send(say('a'), ctx()));
    expect([failed.status.state, wordsOf(failed)]).toEqual(['TASK_STATE_FAILED', 'The agent failed unexpectedly.']);
    expect(engine.stats().openContexts).toBe(0);
    expect(textOf(taskOf(await service.send(say('a'), ctx())))).toBe('a 2');
  });

  it('is closed at shutdown, and opened again after a restart', async () => {
    const { run, closed, opened } = opener();
    const first = await world(run);
    await first.service.send(say('a'), ctx());
    await first.engine.stop();
    await quiet();
    expect(closed).toEqual(['a 1']);
    const second = await first.crash();
    await second.service.send(say('a'), ctx());
    expect(opened).toEqual(['a', 'a']);
  });

  it('costs nothing for an agent without `open`', async () => {
    const { service, engine } = await world(echo);
    await service.send(say('a'), ctx());
    expect(engine.stats().openContexts).toBe(0);
  });
});
