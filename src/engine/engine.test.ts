import { describe, expect, it } from 'vitest';
import type { LogEntry, TaskRow } from '#engine';
import { createEngine, DEFAULT_ENGINE_LIMITS, systemTimers } from '#engine';
import { dialectId, taskId } from '#protocol';
import { AT_ONCE, agent, BOB, CARD, collect, ctx, echo, hanging, request, said, taskOf, textOf, world } from '../../test/support/engine.ts';
import { memoryStore } from './adapters/memory.ts';

describe('an engine', () => {
  it('needs only a store and an agent', async () => {
    const engine = createEngine({ store: memoryStore(), agents: { echo } });
    const service = engine.serviceOf('echo');
    await expect(service.send(request('early'), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    await expect(service.get({ id: taskId('t') }, ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    expect(await engine.start()).toEqual({ waiting: 0, started: 0, ended: 0, oneAtATime: 0, absent: 0 });
    const task = taskOf(await service.send(request('hello'), ctx()));
    expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'hello']);
    expect(task.id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await collect(service.stream(request('again'), ctx()))).length).toBe(3);
    await engine.stop();
  });

  it('returns the number of recovered tasks', async () => {
    const first = await world(hanging);
    await first.service.send(request('a', AT_ONCE), ctx());
    const engine = createEngine({ store: first.store, agents: { agent: { ...hanging, recovery: 'fail' } } });
    expect(await engine.start()).toEqual({ waiting: 0, started: 0, ended: 1, oneAtATime: 0, absent: 0 });
    await engine.stop();
  });

  it('lets tasks of an agent that it does not have wait with missingAgents: wait', async () => {
    const first = await world(hanging);
    const { id } = taskOf(await first.service.send(request('a', AT_ONCE), ctx()));
    const options = { store: first.store, agents: { echo } };
    const other = createEngine({ ...options, missingAgents: 'wait' });
    expect(await other.start()).toEqual({ waiting: 0, started: 0, ended: 0, oneAtATime: 0, absent: 1 });
    expect((await first.store.task('any', id))?.state).toBe('TASK_STATE_WORKING');
    expect(await other.admin.cancel(id)).toMatchObject({ state: 'TASK_STATE_CANCELED' });
    await expect(other.admin.retry(id)).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
    await other.stop();
  });

  it('continues the numbering of stored tasks', async () => {
    const first = await world(echo);
    await first.service.send(request('a'), ctx());
    const second = await first.crash();
    const { id } = taskOf(await second.service.send(request('b'), ctx()));
    expect((await second.store.task('any', id))?.key).toBe(2);
  });

  it('calls onCommitted after each commit', async () => {
    const seen: [TaskRow['state'], readonly LogEntry[]][] = [];
    const { service } = await world(echo, { onCommitted: (row, entries) => seen.push([row.state, entries]) });
    await service.send(request('a'), ctx());
    expect(seen.map(([state, entries]) => [state, entries.map(({ seq }) => seq)])).toEqual([['TASK_STATE_COMPLETED', [1, 2, 3]]]);
    const { service: direct } = await world(
      async function* () {
        yield { kind: 'message', message: said('hi') };
      },
      { onCommitted: (row, entries) => seen.push([row.state, entries]) },
    );
    await direct.send(request('a'), ctx());
    expect(seen).toHaveLength(1);
    const { service: careless, reports } = await world(echo, {
      onCommitted: () => {
        throw new Error('busy');
      },
    });
    expect(taskOf(await careless.send(request('a'), ctx())).status.state).toBe('TASK_STATE_COMPLETED');
    expect(reports).toHaveLength(1);
  });

  it('returns the dialect of a task, to its owner only', async () => {
    const { service, crash } = await world(hanging);
    const { id } = taskOf(await service.send(request('a', AT_ONCE), ctx({ dialect: dialectId('v10.generation') })));
    const { service: later } = await crash();
    for (const { originOf } of [service, later]) {
      expect(originOf?.(id, ctx())).toBe('v10.generation');
      expect(originOf?.(id, ctx({ principal: BOB }))).toBeUndefined();
      expect(originOf?.(taskId('nobody'), ctx())).toBeUndefined();
    }
  });

  it('has A2A 1.0 semantics for calls of an unknown dialect', async () => {
    const engine = createEngine({ store: memoryStore(), agents: { echo } });
    await engine.start();
    expect(taskOf(await engine.serviceOf('echo').send(request('a'), ctx({ dialect: dialectId('unheard of') }))).status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
    await engine.stop();
  });

  it('returns the extended card if there is one', async () => {
    const { service: none } = await world(echo);
    await expect(none.extendedCard({}, ctx())).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
    const promising = agent(echo.run, { card: { ...CARD, capabilities: { extendedAgentCard: true } } });
    const { service: missing } = await world(promising);
    await expect(missing.extendedCard({}, ctx())).rejects.toMatchObject({ kind: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' });
    const { service } = await world(promising, {
      extendedCard: async (name, { principal }) => ({ ...CARD, name: `${name} for ${principal.id}` }),
    });
    expect((await service.extendedCard({}, ctx())).name).toBe('agent for alice');
  });

  it('separates callers by tenant, from the credential or from the request', async () => {
    const { service } = await world(echo);
    const tenant = 'acme' as never;
    const task = taskOf(await service.send(request('a', { tenant }), ctx()));
    expect((await service.get({ id: task.id, tenant }, ctx())).id).toBe(task.id);
    expect((await service.get({ id: task.id }, ctx({ tenant }))).id).toBe(task.id);
    await expect(service.get({ id: task.id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    await expect(service.get({ id: task.id, tenant }, ctx({ tenant: 'other' as never }))).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });
});

describe('the limits', () => {
  it('are all above zero and end in their unit', () => {
    for (const [name, value] of Object.entries(DEFAULT_ENGINE_LIMITS)) {
      expect(value, name).toBeGreaterThan(0);
      expect(name).toMatch(/(Max|Ms|Bytes|Events)$/);
    }
  });
});

describe('the system timers', () => {
  it('run work soon and later, and can be canceled', async () => {
    const done: string[] = [];
    await new Promise<void>((resolve) => systemTimers.soon(resolve));
    const callOff = systemTimers.later(1, () => done.push('called off'));
    callOff();
    await new Promise<void>((resolve) => systemTimers.later(5, resolve));
    expect(done).toEqual([]);
  });
});
