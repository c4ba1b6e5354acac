import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import { contextId, messageId, taskId } from '../../ids.ts';
import type { Message } from '../../message.ts';
import type { Part } from '../../parts.ts';
import { attempt } from '../shared/read.ts';
import { model, task, vocabulary } from './model.ts';

const readMessage = (raw: unknown) => attempt(model.message.read, raw, countingEnv());
const wire = { messageId: 'm', role: 'user', parts: [{ text: 'x' }] };
const message: Message = { messageId: messageId('m'), role: 'ROLE_USER', parts: [{ text: 'x' }] };

describe('the context of a message', () => {
  it('is in its metadata', () => {
    expect(readMessage({ ...wire, metadata: { contextId: 'c' } })).toEqual({ ok: true, value: { ...message, contextId: 'c' } });
    expect(model.message.write({ ...message, contextId: contextId('c') })).toEqual({ ...wire, metadata: { contextId: 'c' } });
  });

  it('keeps the other metadata', () => {
    const metadata = { swarmKind: 'spawn_agent', swarmPriority: 'high', swarmSourceNodeId: 'n' };
    const read = readMessage({ ...wire, metadata: { ...metadata, contextId: 'swarm.1' } });
    expect(read).toEqual({ ok: true, value: { ...message, contextId: 'swarm.1', metadata } });
    expect(model.message.write({ ...message, metadata })).toEqual({ ...wire, metadata });
  });

  it('is also read beside the metadata, which win', () => {
    expect(readMessage({ ...wire, contextId: 'top' })).toMatchObject({ value: { contextId: 'top' } });
    expect(readMessage({ ...wire, contextId: 'top', metadata: { contextId: 'c' } })).toMatchObject({ value: { contextId: 'c' } });
    expect(readMessage({ ...wire, contextId: 'top', metadata: { contextId: '' } })).toEqual({
      ok: true,
      value: { ...message, contextId: 'top' },
    });
  });

  it('has up to 256 characters, in messages, tasks and updates', () => {
    const long = 'c'.repeat(256);
    expect(readMessage({ ...wire, metadata: { contextId: long } })).toMatchObject({ ok: true, value: { contextId: long } });
    expect(readMessage({ ...wire, contextId: long })).toMatchObject({ ok: true, value: { contextId: long } });
    expect(readMessage({ ...wire, metadata: { contextId: `${long}c` } })).toMatchObject({ ok: false, path: 'metadata.contextId' });
    const status = { state: 'TASK_STATE_WORKING' };
    expect(attempt(task.read, { id: 't', contextId: long, status }, countingEnv()).ok).toBe(true);
    expect(attempt(model.statusUpdate.read, { taskId: 't', contextId: long, status }, countingEnv()).ok).toBe(true);
    expect(attempt(task.read, { id: long, status }, countingEnv())).toMatchObject({ ok: false, path: 'id' });
  });

  it('is ignored if it is not a text', () => {
    const metadata = { contextId: 5 };
    expect(readMessage({ ...wire, metadata })).toEqual({ ok: true, value: { ...message, metadata } });
  });
});

describe('parts', () => {
  const cases: readonly (readonly [part: Part, wire: object])[] = [
    [{ raw: 'AAAA', filename: 'a.bin', mediaType: 'image/png' }, { file: { name: 'a.bin', mimeType: 'image/png', bytes: 'AAAA' } }],
    [{ url: 'https://a.example/x' }, { file: { uri: 'https://a.example/x' } }],
    [
      { raw: 'AAAA', metadata: { a: 1 } },
      { file: { bytes: 'AAAA' }, metadata: { a: 1 } },
    ],
    [
      { data: [1], metadata: { a: 1 } },
      { data: [1], metadata: { a: 1 } },
    ],
    [
      { text: 'x', filename: 'f', mediaType: 'text/html' },
      { text: 'x', filename: 'f', mediaType: 'text/html' },
    ],
  ];
  for (const [part, expected] of cases) {
    it(`writes ${JSON.stringify(part)} and reads it again`, () => {
      expect(vocabulary.part.write(part)).toEqual(expected);
      expect(attempt(vocabulary.part.read, expected, countingEnv())).toEqual({ ok: true, value: part });
    });
  }
  it('refuses a part with no content or with two', () => {
    for (const wrong of [{}, { partId: 'p' }, { file: {} }, { text: 'a', file: { uri: 'u' } }, { file: { bytes: 'AAAA', uri: 'u' } }]) {
      expect(attempt(vocabulary.part.read, wrong, countingEnv())).toMatchObject({ ok: false });
    }
  });
});

describe('tasks', () => {
  const bare = { id: taskId('t'), status: { state: 'TASK_STATE_SUBMITTED' as const } };
  it('have only the states that Cortex knows', () => {
    expect(task.write(bare)).toEqual({ id: 't', status: { state: 'TASK_STATE_WORKING' } });
    expect(task.write({ ...bare, status: { state: 'TASK_STATE_AUTH_REQUIRED' } })).toEqual({
      id: 't',
      status: { state: 'TASK_STATE_INPUT_REQUIRED' },
    });
  });
  it('have no empty list of artifacts, which would hide the status message', () => {
    expect(task.write({ ...bare, artifacts: [] })).not.toHaveProperty('artifacts');
  });
});
