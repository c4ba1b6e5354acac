import { describe, expect, it } from 'vitest';
import type { Agent, AgentOutput } from '#protocol';
import {
  agent,
  ask,
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
  wordsOf,
  world,
} from '../../../test/support/engine.ts';

const yields = (...outputs: readonly AgentOutput[]): Agent =>
  agent(async function* () {
    yield* outputs;
  });

describe('what an agent yields', () => {
  const cases: readonly (readonly [string, readonly AgentOutput[], readonly string[]])[] = [
    ['nothing: it has completed', [], ['task WORKING', 'COMPLETED']],
    ['a status', [{ kind: 'status', message: said('busy') }], ['task WORKING', 'WORKING', 'COMPLETED']],
    [
      'text',
      [
        { kind: 'text', text: 'a' },
        { kind: 'text', text: 'b', last: true },
      ],
      ['task WORKING', 'artifact response', 'artifact response', 'COMPLETED'],
    ],
    ['an artifact', [{ kind: 'artifact', parts: [{ text: 'a' }], id: 'x', name: 'X' }], ['task WORKING', 'artifact x', 'COMPLETED']],
    [
      'artifacts without names',
      [
        { kind: 'data', data: 1 },
        { kind: 'artifact', parts: [] },
      ],
      ['task WORKING', 'artifact artifact-1-1', 'artifact artifact-1-2', 'COMPLETED'],
    ],
    ['its own end', [{ kind: 'complete', message: said('done') }], ['task WORKING', 'COMPLETED']],
    ['a failure', [{ kind: 'fail', reason: said('no') }], ['task WORKING', 'FAILED']],
    ['a question', [ask('which?')], ['task WORKING', 'INPUT_REQUIRED']],
    ['a rejection', [{ kind: 'reject', reason: said('never') }], ['task WORKING', 'REJECTED']],
  ];
  for (const [what, outputs, events] of cases) {
    it(what, async () => {
      const { service } = await world(yields(...outputs));
      expect(shortly(await collect(service.stream(request('go'), ctx())))).toEqual(events);
    });
  }

  it('auth, and then ends: the task waits', async () => {
    const { service } = await world(yields({ kind: 'auth', request: said('log in') }));
    const task = taskOf(await service.send(request('go'), ctx()));
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(wordsOf(task)).toBe('log in');
    const next = taskOf(await service.send(toTask(task, 'here'), ctx()));
    expect(next.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  });

  it('auth, and continues when the credential came another way', async () => {
    const credential = gate();
    const { service } = await world(async function* () {
      yield { kind: 'auth', request: said('log in') };
      await credential.wait;
      yield { kind: 'text', text: 'in' };
    });
    const task = taskOf(await service.send(request('go'), ctx()));
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    credential.open();
    await quiet();
    const after = await service.get({ id: task.id }, ctx());
    expect([after.status.state, textOf(after)]).toEqual(['TASK_STATE_COMPLETED', 'in']);
  });

  it('output after the last one, which is dropped', async () => {
    const { service } = await world(yields({ kind: 'complete' }, { kind: 'text', text: 'late' }, { kind: 'fail', reason: said('late') }));
    const task = taskOf(await service.send(request('go'), ctx()));
    await quiet();
    expect(await service.get({ id: task.id }, ctx())).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, generation: 2 });
  });

  it('artifacts with all members, and chunks by id', async () => {
    const { service } = await world(
      yields(
        { kind: 'artifact', id: 'f', name: 'F', description: 'about', extensions: ['urn:x'], metadata: { a: 1 }, parts: [{ text: '1' }] },
        { kind: 'artifact', id: 'f', append: true, last: true, metadata: { b: 2 }, parts: [{ text: '2' }] },
        { kind: 'artifact', id: 'g', parts: [{ text: 'old' }] },
        { kind: 'artifact', id: 'g', parts: [{ text: 'new' }] },
      ),
    );
    const { artifacts } = taskOf(await service.send(request('go'), ctx()));
    expect(artifacts).toEqual([
      {
        artifactId: 'f',
        name: 'F',
        description: 'about',
        extensions: ['urn:x'],
        metadata: { a: 1, b: 2 },
        parts: [{ text: '12' }],
      },
      { artifactId: 'g', parts: [{ text: 'new' }] },
    ]);
  });
});
