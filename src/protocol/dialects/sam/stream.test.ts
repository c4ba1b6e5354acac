import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { Logged, TaskEvent } from '../../events.ts';
import { contextId, seq, taskId } from '../../ids.ts';
import type { TaskState } from '../../states.ts';
import type { Artifact, Task } from '../../task.ts';
import { translate } from '../../translate.ts';
import { createRegistry } from '../create-registry.ts';
import type { Frame } from '../dialect.ts';
import { DIALECTS } from '../registry.ts';
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
const results = (frames: readonly Frame[]) => frames.map((frame) => JSON.parse(String(frame.data)).result);

const WORKING = { kind: 'status-update', taskId: 'T', contextId: 'S', status: { state: 'working' }, final: false };

describe('a stream', () => {
  it('holds the last event until the end and writes it as a task with the id of that event', () => {
    const writer = sam.openStream('T');
    const first = writer.frames(logged(status('TASK_STATE_WORKING'), status('TASK_STATE_COMPLETED')));
    expect(results(first)).toEqual([WORKING]);
    const last = writer.end(task('TASK_STATE_COMPLETED'));
    expect(results(last)).toEqual([{ kind: 'task', id: 'T', contextId: 'S', status: { state: 'completed' } }]);
    expect(last[0]?.id).toBe(2);
    expect(JSON.parse(String(last[0]?.data))).toMatchObject({ jsonrpc: '2.0', id: 'T' });
    expect(writer.end(undefined)).toEqual([]);
  });

  it('ends with a task that waits for the caller', () => {
    const writer = samDocumented.openStream(1);
    expect(writer.frames(logged(status('TASK_STATE_INPUT_REQUIRED')))).toEqual([]);
    expect(results(writer.end(task('TASK_STATE_INPUT_REQUIRED')))).toEqual([
      { kind: 'task', id: 'T', context_id: 'S', status: { state: 'input-required' } },
    ]);
  });

  it('writes a wait that was not the end as progress, in order', () => {
    const writer = sam.openStream('T');
    expect(writer.frames(logged(status('TASK_STATE_INPUT_REQUIRED')))).toEqual([]);
    const later = writer.frames([{ seq: seq(2), event: status('TASK_STATE_WORKING') }]);
    expect(results(later)).toEqual([{ ...WORKING, status: { state: 'input-required' } }, WORKING]);
    expect(later.map((frame) => frame.id)).toEqual([1, 2]);
    expect(writer.end(task('TASK_STATE_WORKING'))).toEqual([]);
  });

  it('loses nothing if the task is unknown at the end', () => {
    const writer = sam.openStream('T');
    writer.frames(logged(status('TASK_STATE_FAILED')));
    expect(results(writer.end(undefined))).toEqual([{ ...WORKING, status: { state: 'failed' }, final: true }]);
  });

  it('writes a snapshot of unfinished work as updates, because a task would be taken for the answer', () => {
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

  it('writes a finished task even if no event announced it, without an event id', () => {
    expect(sam.openStream('T').end(task('TASK_STATE_COMPLETED'))).toEqual([{ data: expect.stringContaining('"kind":"task"') }]);
  });

  it('ends without an answer while the work continues', () => {
    const writer = sam.openStream('T');
    writer.frames(logged(status('TASK_STATE_WORKING')));
    expect(writer.end(task('TASK_STATE_WORKING'))).toEqual([]);
  });

  it('recognises events without kind by their members', () => {
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

  it('writes a single last event at once, although a stream would hold it', () => {
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
