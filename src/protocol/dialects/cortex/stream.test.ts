import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { TaskEvent } from '../../events.ts';
import { artifactId, contextId, messageId, seq, taskId } from '../../ids.ts';
import type { Message } from '../../message.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import type { Task } from '../../task.ts';
import { openReader, openStream } from './stream.ts';

const where = { taskId: taskId('t'), contextId: contextId('c') };
const begun: Task = { id: taskId('t'), contextId: contextId('c'), status: { state: 'TASK_STATE_WORKING' } };
const done: Task = { ...begun, status: { state: 'TASK_STATE_COMPLETED' } };
const chunk = (...parts: Part[]): TaskEvent => ({
  artifactUpdate: { ...where, artifact: { artifactId: artifactId('a'), parts }, append: true },
});
const status = (state: TaskState): TaskEvent => ({ statusUpdate: { ...where, status: { state } } });
const answer: Message = { messageId: messageId('m'), role: 'ROLE_AGENT', parts: [{ text: 'hi' }] };

function stream(events: readonly TaskEvent[], end?: Task, id: string | undefined = 'r'): readonly unknown[] {
  const writer = openStream(id);
  return [...writer.frames(events.map((event) => ({ event }))), ...writer.end(end)].map(({ data }) =>
    data === '[DONE]' ? data : JSON.parse(String(data)),
  );
}

describe('writing', () => {
  it('writes the finished task before the end', () => {
    expect(stream([{ task: begun }, status('TASK_STATE_COMPLETED')], done)).toEqual([
      { jsonrpc: '2.0', id: 'r', result: { task: begun } },
      { type: 'TaskStatusUpdateEvent', ...where, status: done.status, final: true },
      { jsonrpc: '2.0', id: 'r', result: { task: done } },
      '[DONE]',
    ]);
  });

  it('does not write it twice', () => {
    expect(stream([{ task: done }], done)).toEqual([{ jsonrpc: '2.0', id: 'r', result: { task: done } }, '[DONE]']);
  });

  it('writes it even if nothing else was written', () => {
    expect(stream([], done)).toEqual([{ jsonrpc: '2.0', id: 'r', result: { task: done } }, '[DONE]']);
    expect(stream([])).toEqual(['[DONE]']);
  });

  it('puts the text of an artifact where onChunk looks, in the same frame without an envelope', () => {
    const [frame] = stream([chunk({ text: 'a' }, { data: 1 }, { text: '' }, { text: 'b' })]) as Record<string, unknown>[];
    expect(frame).toMatchObject({ type: 'TaskArtifactUpdateEvent', taskId: 't', append: true });
    expect(frame).toHaveProperty('result', { message: { role: 'agent', parts: [{ text: 'a' }, { text: 'b' }] } });
    expect(frame).not.toHaveProperty('jsonrpc');
  });

  it('adds nothing without text or without a request id', () => {
    expect(stream([chunk({ raw: 'AAAA' })])[0]).not.toHaveProperty('result');
    const alone = openStream(undefined).frames([{ event: chunk({ text: 'a' }) }]);
    expect(JSON.parse(String(alone[0]?.data))).not.toHaveProperty('result');
  });

  it('sets final at terminal states, and at a question where the stream closes', () => {
    const finals = (['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_FAILED'] as const).map(
      (state) => (stream([status(state)])[0] as { final: boolean }).final,
    );
    expect(finals).toEqual([false, false, false, true]);
    const [asked] = openStream('r').frames([{ event: status('TASK_STATE_INPUT_REQUIRED'), closes: true }]);
    expect(JSON.parse(String(asked?.data))).toMatchObject({ final: true });
  });

  it('writes a direct message as the whole stream of a task', () => {
    const artifact = { artifactId: 'm-artifact-0', parts: [{ text: 'hi' }] };
    const whole = { id: 'm', status: { state: 'TASK_STATE_COMPLETED', message: { ...answer, role: 'agent' } }, artifacts: [artifact] };
    expect(stream([{ message: answer }])).toEqual([
      { jsonrpc: '2.0', id: 'r', result: { task: { id: 'm', status: { state: 'TASK_STATE_WORKING' } } } },
      {
        type: 'TaskArtifactUpdateEvent',
        taskId: 'm',
        artifact,
        lastChunk: true,
        result: { message: { role: 'agent', parts: [{ text: 'hi' }] } },
      },
      { type: 'TaskStatusUpdateEvent', taskId: 'm', status: whole.status, final: true },
      { jsonrpc: '2.0', id: 'r', result: { task: whole } },
      '[DONE]',
    ]);
  });

  it('gives the event id to the last frame of an event, and none to frames that it adds', () => {
    const writer = openStream('r');
    expect(writer.frames([{ event: { message: answer }, seq: seq(4) }]).map((frame) => frame.id)).toEqual([
      undefined,
      undefined,
      undefined,
      4,
    ]);
    expect(writer.end(done).map((frame) => frame.id)).toEqual([undefined]);
  });
});

describe('reading', () => {
  const read = (...frames: unknown[]) => {
    const reader = openReader(countingEnv());
    return frames.map((frame) => {
      const found = reader.read(frame);
      return found.ok ? found.value : found;
    });
  };

  it('remembers the context of the first frame', () => {
    const artifact = { artifactId: 'a', parts: [{ text: 'x' }] };
    const frames = [{ task: begun }, { type: 'TaskArtifactUpdateEvent', taskId: 't', artifact }, { taskId: 't', status: done.status }];
    expect(read(...frames)).toEqual([
      [{ task: begun }],
      [{ artifactUpdate: { ...where, artifact } }],
      [{ statusUpdate: { ...where, status: done.status } }],
    ]);
  });

  it('has no context if the first frame had none', () => {
    expect(read({ taskId: 't', status: done.status })).toEqual([[{ statusUpdate: { ...where, contextId: '', status: done.status } }]]);
  });

  it('ignores frames after a terminal state', () => {
    expect(read({ task: begun }, { taskId: 't', status: done.status }, { task: done })[2]).toEqual([]);
    expect(read({ task: done }, { task: done })[1]).toEqual([]);
  });

  it('reads a message as the answer only if there is no task', () => {
    const said = { ...answer, role: 'agent' };
    expect(read({ message: said })).toEqual([[{ message: answer }]]);
    const note = { ...where, status: { state: 'TASK_STATE_WORKING', message: answer } };
    expect(read({ task: begun }, { message: said })[1]).toEqual([{ statusUpdate: note }]);
  });

  it('reads an artifact once, although the frame has its text twice', () => {
    const [frame] = stream([chunk({ text: 'a' })]);
    expect(read(frame)).toEqual([[chunk({ text: 'a' })]]);
  });

  it('skips unknown frames and reports bad ones', () => {
    expect(read({}, { events: [] })).toEqual([[], []]);
    expect(read('x', { task: {} })).toMatchObject([{ ok: false }, { ok: false, path: 'task.id' }]);
  });
});
