import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { TaskEvent } from '../../events.ts';
import { foldEvent } from '../../fold.ts';
import { artifactId, contextId, messageId, seq, taskId } from '../../ids.ts';
import type { Json } from '../../json.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import type { Task } from '../../task.ts';
import { openReader, openStream } from './stream.ts';

const where = { taskId: taskId('T'), contextId: contextId('C') };
const artifact = { artifactId: artifactId('a'), parts: [{ text: 'x' }] };
const task = (state: TaskState): Task => ({ id: taskId('T'), contextId: contextId('C'), status: { state }, artifacts: [artifact] });
const written = (event: TaskEvent, id?: number) =>
  openStream(1)
    .frames([id === undefined ? { event } : { event, seq: seq(id) }])
    .map((frame) => ({ ...frame, data: JSON.parse(String(frame.data)).result as Json }));
const ARTIFACT = { taskId: 'T', contextId: 'C', artifact };
const status = (state: string) => ({ taskId: 'T', contextId: 'C', status: { state } });

describe('a task in a stream', () => {
  it('starts with its status while it runs', () => {
    expect(written({ task: task('TASK_STATE_WORKING') }).map((frame) => frame.data)).toEqual([status('working'), ARTIFACT]);
  });

  for (const [state, name] of [
    ['TASK_STATE_COMPLETED', 'completed'],
    ['TASK_STATE_INPUT_REQUIRED', 'input_required'],
    ['TASK_STATE_AUTH_REQUIRED', 'auth_required'],
  ] as const) {
    it(`ends with its status when it is ${name}, which closes the stream`, () => {
      expect(written({ task: task(state) }).map((frame) => frame.data)).toEqual([ARTIFACT, status(name)]);
    });
  }

  it('has the event id only on the last of its frames', () => {
    expect(written({ task: task('TASK_STATE_WORKING') }, 7).map((frame) => frame.id)).toEqual([undefined, 7]);
  });

  it('keeps its metadata, with or without a context', () => {
    const bare: Task = { id: taskId('T'), status: { state: 'TASK_STATE_WORKING' }, metadata: { a: 1 } };
    expect(written({ task: bare }).map((frame) => frame.data)).toEqual([
      { taskId: 'T', contextId: '', status: { state: 'working' }, metadata: { a: 1 } },
    ]);
  });

  it('is not followed by anything at the end', () => {
    expect(openStream(1).end(task('TASK_STATE_COMPLETED'))).toEqual([]);
  });
});

it('a direct message is an artifact and a completed status', () => {
  const event: TaskEvent = { message: { messageId: messageId('m'), role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } };
  expect(written(event).map((frame) => frame.data)).toEqual([
    { taskId: 'm', contextId: '', artifact: { artifactId: 'artifact-1', parts: [{ text: 'hi' }] } },
    { taskId: 'm', contextId: '', status: { state: 'completed' } },
  ]);
});

describe('an artifact longer than a line that PromptKit can read', () => {
  const parts = Array.from({ length: 2000 }, (_, at) => ({ text: `${at} ${'漢'.repeat(500)}`, metadata: { at } }));
  const begun: Task = { id: taskId('T'), contextId: contextId('C'), status: { state: 'TASK_STATE_WORKING' } };
  const long: TaskEvent = { artifactUpdate: { ...where, artifact: { artifactId: artifactId('a'), name: 'n', parts }, lastChunk: true } };

  it('is written in pieces that make the same artifact', () => {
    const frames = openStream(1).frames([{ event: long, seq: seq(3) }]);
    expect(frames.length).toBeGreaterThan(2);
    for (const frame of frames) expect(new TextEncoder().encode(`data: ${frame.data}`).length).toBeLessThan(1 << 20);
    expect(frames.map((frame) => frame.id)).toEqual([...frames.slice(1).map(() => undefined), 3]);
    const reader = openReader(countingEnv());
    const events = frames.flatMap((frame) => {
      const read = reader.read(JSON.parse(String(frame.data)).result);
      return read.ok ? read.value : [];
    });
    expect(events.map((event) => event.artifactUpdate?.lastChunk)).toEqual([...events.slice(1).map(() => undefined), true]);
    expect(events[0]?.artifactUpdate?.append).toBeUndefined();
    expect(events.reduce<Task>(foldEvent, begun).artifacts).toEqual(foldEvent(begun, long).artifacts);
  });

  const written = (part: Part): readonly TaskEvent[] => {
    const one: TaskEvent = { artifactUpdate: { ...where, artifact: { artifactId: artifactId('a'), parts: [part] } } };
    const reader = openReader(countingEnv());
    return openStream(1)
      .frames([{ event: one }])
      .flatMap((frame) => {
        const read = reader.read(JSON.parse(String(frame.data)).result);
        return read.ok ? read.value : [];
      });
  };

  it('divides one long text, never inside a character', () => {
    const text = `x${'😀'.repeat(400_000)}`;
    const events = written({ text });
    expect(events.length).toBeGreaterThan(1);
    for (const { artifactUpdate } of events) expect(artifactUpdate?.artifact.parts[0]?.text?.isWellFormed()).toBe(true);
    expect(events.reduce<Task>(foldEvent, begun).artifacts?.[0]?.parts).toEqual([{ text }]);
  });

  it('keeps a long file whole', () => {
    expect(written({ raw: 'A'.repeat(400_000), mediaType: 'image/png' })).toHaveLength(1);
  });
});

describe('reading', () => {
  const read = (raw: unknown) => openReader(countingEnv()).read(raw);
  it('skips frames that are neither a status nor an artifact', () => {
    for (const frame of [{}, { statusUpdate: {} }, { messageId: 'm', role: 'agent', parts: [] }]) {
      expect(read(frame)).toEqual({ ok: true, value: [] });
    }
  });
  it('reads a task frame', () => {
    const frame = { id: 'T', contextId: 'C', status: { state: 'completed' } };
    expect(read(frame)).toEqual({ ok: true, value: [{ task: { id: 'T', contextId: 'C', status: { state: 'TASK_STATE_COMPLETED' } } }] });
  });
  it('reports bad frames', () => {
    expect(read('x')).toMatchObject({ ok: false, reason: 'invalid' });
    expect(read({ status: { state: 'working' } })).toMatchObject({ ok: false, path: 'taskId' });
    expect(read({ taskId: 'T', artifact: {} })).toMatchObject({ ok: false, path: 'artifact.artifactId' });
    expect(read({ taskId: 'T', status: { state: 'unknown' } })).toMatchObject({ ok: false, path: 'status.state' });
  });
});
