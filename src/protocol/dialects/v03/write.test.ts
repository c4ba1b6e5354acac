import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../events.ts';
import { contextId, messageId, seq, taskId } from '../../ids.ts';
import type { Message } from '../../message.ts';
import type { TaskState } from '../../states.ts';
import { v03, v03Rest, v03TaskId } from './dialect.ts';

const message: Message = { messageId: messageId('m1'), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
const update = (state: TaskState): TaskEvent => ({
  statusUpdate: { taskId: taskId('t1'), contextId: contextId('c1'), status: { state }, generation: seq(3) },
});
const finals = (...batches: TaskState[][]): unknown[] => {
  const writer = v03.openStream(1);
  const frames = batches.flatMap((batch) => writer.frames(batch.map((state, at) => ({ seq: seq(at + 1), event: update(state) }))));
  return frames.map((frame) => JSON.parse(String(frame.data)).result.final);
};

describe('final', () => {
  it('is true at each terminal state and false before', () => {
    expect(finals(['TASK_STATE_SUBMITTED'], ['TASK_STATE_WORKING'], ['TASK_STATE_AUTH_REQUIRED'])).toEqual([false, false, false]);
    expect(
      finals(['TASK_STATE_COMPLETED'], ['TASK_STATE_FAILED'], ['TASK_STATE_CANCELED'], ['TASK_STATE_REJECTED'], ['TASK_STATE_UNSPECIFIED']),
    ).toEqual([true, true, true, true, false]);
  });

  it('is true at a question if the stream closes there, and false if it stays open', () => {
    expect(finals(['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED'])).toEqual([false, false]);
    const [asked] = v03.openStream(1).frames([{ event: update('TASK_STATE_INPUT_REQUIRED'), closes: true }]);
    expect(JSON.parse(String(asked?.data)).result.final).toBe(true);
  });
});

describe('frames', () => {
  const logged = [{ seq: seq(7), event: update('TASK_STATE_WORKING') }, { event: update('TASK_STATE_WORKING') }];
  it('are enveloped with the request’s id, and carry an event id only if there is one', () => {
    const [first, second] = v03.openStream('r-1').frames(logged);
    expect(JSON.parse(String(first?.data))).toMatchObject({ jsonrpc: '2.0', id: 'r-1', result: { kind: 'status-update' } });
    expect(first?.id).toBe(7);
    expect(second).not.toHaveProperty('id');
    expect(v03.openStream(null).end(undefined)).toEqual([]);
  });

  it('are bare StreamResponses over REST', () => {
    const [first] = v03Rest.openStream(undefined).frames(logged);
    expect(first?.data).toBe('{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"},"final":false}}');
  });
});

describe('writing', () => {
  it('writes no member that only 1.0 or the canonical model has', () => {
    const request = { message, alias: 'a', tenant: 'x', configuration: { ifGenerationMatch: 4 } };
    expect(v03.encode('send.request', request as never)).toEqual({
      message: { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
      configuration: { acceptedOutputModes: [] },
    });
    const part = { text: 'a', filename: 'f', mediaType: 'text/plain' };
    const answer = v03.encode('send.result', { message: { ...message, parts: [part] } });
    expect(JSON.stringify(answer)).not.toMatch(/filename|mediaType|ROLE_|mimeType/);
    expect(v03.encode('event', update('TASK_STATE_COMPLETED'))).not.toHaveProperty('generation');
  });

  it('writes a task without a context with its own id as the contextId', () => {
    const bare = { id: taskId('t1'), status: { state: 'TASK_STATE_WORKING' } } as const;
    expect(v03.encode('get.result', bare)).toEqual({ kind: 'task', id: 't1', contextId: 't1', status: { state: 'working' } });
    expect(v03Rest.encode('send.result', { task: bare })).toEqual({
      task: { id: 't1', contextId: 't1', status: { state: 'TASK_STATE_WORKING' } },
    });
  });

  it('writes the task id in the variant’s spelling, in the three methods that its document names', () => {
    const request = { id: taskId('t1') };
    for (const shape of ['get.request', 'cancel.request', 'subscribe.request'] as const) {
      expect(v03.encode(shape, request)).toEqual({ id: 't1' });
      expect(v03TaskId.encode(shape, request)).toEqual({ taskId: 't1' });
    }
    expect(v03TaskId.encode('push.list.request', { taskId: taskId('t1') })).toEqual({ id: 't1' });
  });

  it('always writes blocking over REST, where absent means false', () => {
    expect(v03Rest.encode('send.request', { message })).toHaveProperty('configuration', { blocking: true });
    expect(v03Rest.encode('send.request', { message, configuration: { returnImmediately: true, historyLength: 0 } })).toHaveProperty(
      'configuration',
      { blocking: false },
    );
  });

  it('never sends a list request, which no release has', () => {
    for (const dialect of [v03, v03Rest]) {
      expect(() => dialect.encode('list.request', {})).toThrow(expect.objectContaining({ kind: 'UNSUPPORTED_OPERATION' }));
      expect(dialect.methods.list).toBeUndefined();
    }
    expect(v03.operationOf('tasks/list')).toBe('list');
  });
});
