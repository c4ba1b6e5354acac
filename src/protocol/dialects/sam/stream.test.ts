import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { Logged, TaskEvent } from '../../events.ts';
import { contextId, seq, taskId } from '../../ids.ts';
import type { TaskState } from '../../states.ts';
import type { Artifact, Task } from '../../task.ts';
import { translate } from '../../translate.ts';
import type { Frame } from '../dialect.ts';
import { createRegistry, DIALECTS } from '../registry.ts';
import { sam, samDocumented } from './dialect.ts';

const ids = { taskId: taskId('T'), contextId: contextId('S') };
const status = (state: TaskState): TaskEvent => ({ statusUpdate: { ...ids, status: { state } } });
const task = (state: TaskState, more: Partial<Task> = {}): Task => ({
  id: ids.taskId,
  contextId: ids.contextId,
  status: { state },
  ...more,
});
const logged = (...events: TaskEvent[]): Logged[] => events.map((event, at) => ({ seq: seq(at + 1), event }));
const results = (frames: readonly Frame[]) => frames.map((frame) => JSON.parse(frame.data).result);

const WORKING = { kind: 'status-update', taskId: 'T', contextId: 'S', status: { state: 'working' }, final: false };

describe('a stream', () => {
  it('keeps the last word until the end and says it as a task, under the number of the event it stands for', () => {
    const writer = sam.openStream('T');
    const first = writer.frames(logged(status('TASK_STATE_WORKING'), status('TASK_STATE_COMPLETED')));
    expect(results(first)).toEqual([WORKING]);
    const last = writer.end(task('TASK_STATE_COMPLETED'));
    expect(results(last)).toEqual([{ kind: 'task', id: 'T', contextId: 'S', status: { state: 'completed' } }]);
    expect(last[0]?.id).toBe(2);
    expect(JSON.parse(last[0]?.data ?? '')).toMatchObject({ jsonrpc: '2.0', id: 'T' });
    expect(writer.end(undefined)).toEqual([]);
  });

  it('ends with a task that waits for the caller', () => {
    const writer = samDocumented.openStream(1);
    expect(writer.frames(logged(status('TASK_STATE_INPUT_REQUIRED')))).toEqual([]);
    expect(results(writer.end(task('TASK_STATE_INPUT_REQUIRED')))).toEqual([
      { kind: 'task', id: 'T', context_id: 'S', status: { state: 'input-required' } },
    ]);
  });

  it('says a wait that was not the end as progress, in its place', () => {
    const writer = sam.openStream('T');
    expect(writer.frames(logged(status('TASK_STATE_INPUT_REQUIRED')))).toEqual([]);
    const later = writer.frames([{ seq: seq(2), event: status('TASK_STATE_WORKING') }]);
    expect(results(later)).toEqual([{ ...WORKING, status: { state: 'input-required' } }, WORKING]);
    expect(later.map((frame) => frame.id)).toEqual([1, 2]);
    expect(writer.end(task('TASK_STATE_WORKING'))).toEqual([]);
  });

  it('loses nothing when nobody knows the task at the end', () => {
    const writer = sam.openStream('T');
    writer.frames(logged(status('TASK_STATE_FAILED')));
    expect(results(writer.end(undefined))).toEqual([{ ...WORKING, status: { state: 'failed' }, final: true }]);
  });

  it('tells a snapshot of work under way as updates, since any task would be taken for the answer', () => {
    const artifact = { artifactId: 'a', parts: [{ text: 'so far' }] } as unknown as Artifact;
    const frames = sam
      .openStream('T')
      .frames(logged({ task: task('TASK_STATE_WORKING', { artifacts: [artifact], metadata: { agent_name: 'A' } }) }));
    expect(results(frames)).toEqual([
      { ...WORKING, metadata: { agent_name: 'A' } },
      {
        kind: 'artifact-update',
        taskId: 'T',
        contextId: 'S',
        artifact: { artifactId: 'a', parts: [{ kind: 'text', text: 'so far' }] },
      },
    ]);
    expect(frames.map((frame) => frame.id)).toEqual([undefined, 1]);
  });

  it('answers with a finished task even if no event announced it, without a number of the log', () => {
    expect(sam.openStream('T').end(task('TASK_STATE_COMPLETED'))).toEqual([{ data: expect.stringContaining('"kind":"task"') }]);
  });

  it('is cut, not answered, when the work goes on', () => {
    const writer = sam.openStream('T');
    writer.frames(logged(status('TASK_STATE_WORKING')));
    expect(writer.end(task('TASK_STATE_WORKING'))).toEqual([]);
  });

  it('reads what has no kind by the members that only one event has', () => {
    const reader = samDocumented.openReader(countingEnv());
    const state = { state: 'working' };
    const kinds = [
      { task_id: 'T', status: state },
      { task_id: 'T', artifact: { id: 'a', uri: 'artifact://s/f' } },
      { id: 'T', status: state },
      { role: 'agent', parts: [{ text: 'x' }] },
    ].map((raw) => {
      const read = reader.read(raw);
      return read.ok ? Object.keys(read.value[0] ?? {}) : read;
    });
    expect(kinds).toEqual([['statusUpdate'], ['artifactUpdate'], ['task'], ['message']]);
    expect(reader.read({ task_id: 'T' })).toMatchObject({ reason: 'invalid', path: 'kind' });
    expect(reader.read({ kind: 'gossip', status: state })).toMatchObject({ reason: 'invalid', path: 'kind' });
  });

  it('translates a single last event, though a stream would wait with it', () => {
    const last = {
      jsonrpc: '2.0',
      id: 1,
      result: { statusUpdate: { taskId: 'T', contextId: 'S', status: { state: 'TASK_STATE_COMPLETED' } } },
    };
    const [v10] = DIALECTS;
    if (v10 === undefined) throw new Error('1.0 stands first');
    const { output } = translate(last, { registry: createRegistry(DIALECTS), env: countingEnv(), from: v10, to: sam, kind: 'event' });
    expect(output).toEqual([{ jsonrpc: '2.0', id: 1, result: { ...WORKING, status: { state: 'completed' }, final: true } }]);
  });
});
