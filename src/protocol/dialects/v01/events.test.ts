import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { Logged, TaskEvent } from '../../events.ts';
import { contextId, seq, taskId } from '../../ids.ts';
import type { TaskState } from '../../states.ts';
import { TASK_STATES } from '../../states.ts';
import { v01 } from './dialect.ts';

const ids = { taskId: taskId('t'), contextId: contextId('c') };
const status = (state: TaskState): TaskEvent => ({ statusUpdate: { ...ids, status: { state } } });
const task = (state: TaskState, ...artifacts: string[]): TaskEvent =>
  ({
    task: {
      id: 't',
      contextId: 'c',
      status: { state },
      artifacts: artifacts.map((artifactId) => ({ artifactId, parts: [{ text: artifactId }] })),
    },
  }) as unknown as TaskEvent;
const chunk = (artifactId: string): TaskEvent =>
  ({ artifactUpdate: { ...ids, artifact: { artifactId, parts: [] } } }) as unknown as TaskEvent;
const logged = (...events: TaskEvent[]): Logged[] => events.map((event, at) => ({ seq: seq(at + 1), event }));
const closing = (event: TaskEvent): Logged => ({ event, closes: true });
const results = (...events: TaskEvent[]): { status?: { state: string }; final?: boolean; artifact?: { index: number } }[] =>
  v01
    .openStream(1)
    .frames(logged(...events))
    .map((frame) => JSON.parse(String(frame.data)).result);

describe('writing a stream', () => {
  it('sets final exactly where 0.1 ends a stream', () => {
    const states = Object.keys(TASK_STATES) as TaskState[];
    expect(Object.fromEntries(states.map((state) => [state, results(status(state))[0]?.final]))).toEqual({
      TASK_STATE_UNSPECIFIED: false,
      TASK_STATE_SUBMITTED: false,
      TASK_STATE_WORKING: false,
      TASK_STATE_INPUT_REQUIRED: false,
      TASK_STATE_AUTH_REQUIRED: false,
      TASK_STATE_COMPLETED: true,
      TASK_STATE_FAILED: true,
      TASK_STATE_CANCELED: true,
      TASK_STATE_REJECTED: true,
    });
  });

  it('sets final at a question if the stream closes there, after the artifacts', () => {
    const [asked] = v01.openStream(1).frames([closing(status('TASK_STATE_INPUT_REQUIRED'))]);
    expect(JSON.parse(String(asked?.data))).toMatchObject({ result: { status: { state: 'input-required' }, final: true } });
    const frames = v01.openStream(1).frames([closing(task('TASK_STATE_INPUT_REQUIRED', 'a'))]);
    expect(frames.map((frame) => JSON.parse(String(frame.data)).result.final)).toEqual([undefined, true]);
  });

  it('writes a task’s artifacts before a status that ends the stream, and after any other', () => {
    const order = (state: TaskState) =>
      results(task(state, 'a', 'b')).map((event) => (event.artifact === undefined ? 'status' : event.artifact.index));
    expect(order('TASK_STATE_COMPLETED')).toEqual([0, 1, 'status']);
    expect(order('TASK_STATE_WORKING')).toEqual(['status', 0, 1]);
  });

  it('gives the event id to the last frame of an event only', () => {
    const writer = v01.openStream('r');
    const frames = writer.frames(logged(task('TASK_STATE_WORKING', 'a', 'b'), chunk('a')));
    expect(frames.map((frame) => frame.id)).toEqual([undefined, undefined, 1, 2]);
    expect(JSON.parse(String(frames[0]?.data))).toMatchObject({ jsonrpc: '2.0', id: 'r' });
    expect(writer.frames([{ event: chunk('a') }])[0]).not.toHaveProperty('id');
    expect(writer.end(undefined)).toEqual([]);
  });

  it('keeps its artifact numbers between batches, separately for each stream', () => {
    const writer = v01.openStream(undefined);
    const index = (event: TaskEvent) => writer.frames([{ event }]).map((frame) => JSON.parse(String(frame.data)).artifact.index);
    expect([index(chunk('x')), index(chunk('y')), index(chunk('x'))]).toEqual([[0], [1], [0]]);
    expect(results(chunk('y'))[0]?.artifact?.index).toBe(0);
  });

  it('keeps the metadata of a task on its status', () => {
    const event = { task: { id: 't', status: { state: 'TASK_STATE_WORKING' }, metadata: { k: 1 } } } as unknown as TaskEvent;
    expect(results(event)).toEqual([{ id: 't', status: { state: 'working' }, final: false, metadata: { k: 1 } }]);
  });
});

describe('one event by itself', () => {
  it('is a status if it is a task, so that a webhook has both id and state', () => {
    expect(v01.encode('event', task('TASK_STATE_COMPLETED', 'a'))).toEqual({ id: 't', status: { state: 'completed' }, final: true });
  });

  it('has the index that its artifact id spells, or the default', () => {
    expect(v01.encode('event', chunk('3'))).toEqual({ id: 't', artifact: { index: 3, parts: [] } });
    expect(v01.encode('event', chunk('x'))).toEqual({ id: 't', artifact: { index: 0, parts: [] } });
  });
});

describe('reading a stream', () => {
  it('uses the context of a task for later events', () => {
    const reader = v01.openReader(countingEnv());
    const working = { id: 't', status: { state: 'working' } };
    const seen = [working, { ...working, sessionId: 's' }, working, { id: 't', artifact: { parts: [] } }].map((raw) => reader.read(raw));
    expect(seen).toMatchObject([
      { value: [{ statusUpdate: { contextId: '' } }] },
      { value: [{ task: { contextId: 's' } }] },
      { value: [{ statusUpdate: { contextId: 's' } }] },
      { value: [{ artifactUpdate: { contextId: 's', artifact: { artifactId: '0' } } }] },
    ]);
  });

  it('reads an event with final as a status event, whatever else it has', () => {
    expect(v01.decode('event', { id: 't', status: { state: 'working' }, final: false, history: [] }, countingEnv())).toMatchObject({
      value: { statusUpdate: { taskId: 't' } },
    });
  });

  it.each([
    [{}, '', /has 0/],
    [{ id: 't', status: { state: 'working' }, artifact: { parts: [] } }, '', /has 2/],
    [{ status: { state: 'working' } }, 'id', /required/],
    [{ id: 't', artifact: { parts: [], append: 'yes' } }, 'artifact.append', /true or false/],
    [{ id: 't', artifact: { parts: [], lastChunk: 1 } }, 'artifact.lastChunk', /true or false/],
    [{ id: 't', artifact: { parts: [{ type: 'x' }] } }, 'artifact.parts[0].type', /unknown value/],
    ['done', '', /object/],
  ])('refuses %j', (raw, path, problem) => {
    const refused = { ok: false, reason: 'invalid', path, problem: expect.stringMatching(problem) };
    expect(v01.openReader(countingEnv()).read(raw)).toEqual(refused);
    expect(v01.decode('event', raw, countingEnv())).toEqual(refused);
  });
});
