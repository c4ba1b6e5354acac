import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import { A2AError } from '../../errors.ts';
import type { Part } from '../../parts.ts';
import { TASK_STATES } from '../../states.ts';
import type { Artifact, Task } from '../../task.ts';
import { sam, samDocumented } from './dialect.ts';

const taskWith = (artifact: object): Task =>
  ({ id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [artifact as Artifact] }) as unknown as Task;
const documented = (artifact: object): unknown => {
  const written = samDocumented.encode('cancel.result', taskWith(artifact));
  expect(samDocumented.decode('cancel.result', written, countingEnv())).toEqual({ ok: true, value: taskWith(artifact) });
  return (written as { artifacts: unknown[] }).artifacts[0];
};

describe('an artifact in the documented spelling', () => {
  const file = { filename: 'r.pdf', mediaType: 'application/pdf' };

  it('that is one file by reference', () => {
    expect(
      documented({ artifactId: 'a', name: 'r.pdf', parts: [{ url: 'artifact://s/r.pdf', ...file }], metadata: { version: 1 } }),
    ).toEqual({
      id: 'a',
      name: 'r.pdf',
      uri: 'artifact://s/r.pdf',
      mime_type: 'application/pdf',
      metadata: { version: 1 },
    });
  });

  it('that is one file inline', () => {
    expect(documented({ artifactId: 'a', name: 'r.pdf', parts: [{ raw: 'AAAA', ...file }] })).toEqual({
      id: 'a',
      name: 'r.pdf',
      mime_type: 'application/pdf',
      inline_data: { data: 'AAAA' },
    });
  });

  it('that is one file inline and by reference', () => {
    expect(documented({ artifactId: 'a', parts: [{ raw: 'AAAA', metadata: { uri: 'artifact://s/f' } }] })).toEqual({
      id: 'a',
      uri: 'artifact://s/f',
      inline_data: { data: 'AAAA' },
    });
  });

  const kept: readonly (readonly [string, string | undefined, readonly object[], readonly object[]])[] = [
    ['text', 'n', [{ text: 'x' }], [{ text: 'x' }]],
    ['data', 'n', [{ data: { a: 1 } }], [{ data: { a: 1 } }]],
    ['several parts', undefined, [{ url: 'u' }, { raw: 'AAAA' }], [{ file: { uri: 'u' } }, { file: { bytes: 'AAAA' } }]],
    ['a file of another name', 'n', [{ url: 'u', filename: 'm' }], [{ file: { uri: 'u', name: 'm' } }]],
    ['a file without the name', 'n', [{ url: 'u' }], [{ file: { uri: 'u' } }]],
    ['a reference with metadata', undefined, [{ url: 'u', metadata: { uri: 'v' } }], [{ file: { uri: 'u' }, metadata: { uri: 'v' } }]],
    ['bytes with other metadata', undefined, [{ raw: 'AAAA', metadata: { a: 1 } }], [{ file: { bytes: 'AAAA' }, metadata: { a: 1 } }]],
    [
      'a uri in metadata that is no text',
      undefined,
      [{ raw: 'AAAA', metadata: { uri: 1 } }],
      [{ file: { bytes: 'AAAA' }, metadata: { uri: 1 } }],
    ],
    ['nothing', undefined, [], []],
  ];
  it.each(kept)('keeps its parts if it is %s', (_, name, parts, expected) => {
    const named = name === undefined ? {} : { name };
    expect(documented({ artifactId: 'a', ...named, parts })).toEqual({ id: 'a', ...named, parts: expected });
  });

  it('is refused without content', () => {
    const bare = { id: 't', status: { state: 'completed' }, artifacts: [{ id: 'a', name: 'n', mime_type: 'text/plain' }] };
    const read = samDocumented.decode('cancel.result', bare, countingEnv());
    expect(read).toMatchObject({ value: { artifacts: [{ artifactId: 'a', name: 'n', parts: [] }] } });
  });

  it.each([
    [{ name: 'n' }, 'artifacts[0].id'],
    [{ id: 'a', inline_data: { data: '<base64>' } }, 'artifacts[0].inline_data.data'],
    [{ id: 'a', uri: 1 }, 'artifacts[0].uri'],
    [{ id: 'a', parts: 'x' }, 'artifacts[0].parts'],
  ])('names what is wrong in %j', (artifact, path) => {
    const raw = { id: 't', status: { state: 'completed' }, artifacts: [artifact] };
    expect(samDocumented.decode('cancel.result', raw, countingEnv())).toMatchObject({ reason: 'invalid', path });
  });
});

describe('data that is no object', () => {
  it.each([[[1, 2]], ['text'], [0], [false], [null]])('%j travels wrapped and comes back bare', (data) => {
    const part: Part = { data, metadata: { k: 'v' } };
    const event = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [part, { data }] } } as never;
    const written = sam.encode('event', event);
    expect(written).toMatchObject({
      parts: [
        { kind: 'data', data: { value: data }, metadata: { k: 'v', data_part_compat: true } },
        { kind: 'data', data: { value: data }, metadata: { data_part_compat: true } },
      ],
    });
    expect(sam.decode('event', written, countingEnv())).toEqual({ ok: true, value: event });
  });
});

describe('both spellings', () => {
  it('have every state of 0.3, and read both spellings of canceled', () => {
    for (const dialect of [sam, samDocumented]) {
      const names = Object.keys(TASK_STATES).map((state) => {
        const written = dialect.encode('cancel.result', { id: 't', status: { state } } as never) as { status: { state: string } };
        return written.status.state;
      });
      expect(names.toSorted()).toEqual(
        ['auth-required', 'canceled', 'completed', 'failed', 'input-required', 'rejected', 'submitted', 'unknown', 'working'].toSorted(),
      );
    }
    const british = sam.decode('cancel.result', { id: 't', status: { state: 'cancelled' } }, countingEnv());
    expect(british).toMatchObject({ value: { status: { state: 'TASK_STATE_CANCELED' } } });
    expect(sam.decode('cancel.result', { id: 't', status: {} }, countingEnv())).toMatchObject({
      path: 'status.state',
      problem: 'is required',
    });
  });

  it('write the contextId that the models require, and read an empty one as absent', () => {
    const written = sam.encode('cancel.result', { id: 't', status: { state: 'TASK_STATE_WORKING' } } as never);
    expect(written).toEqual({ kind: 'task', id: 't', contextId: '', status: { state: 'working' } });
    expect(sam.decode('cancel.result', written, countingEnv())).toEqual({
      ok: true,
      value: { id: 't', status: { state: 'TASK_STATE_WORKING' } },
    });
  });

  it('can write a direct message, although a send returns a task', () => {
    expect(sam.traits.directMessage).toBe('as-task');
    const result = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] } } as never;
    const written = samDocumented.encode('send.result', result);
    expect(written).toEqual({ kind: 'message', message_id: 'm', role: 'agent', parts: [{ text: 'x' }] });
    expect(samDocumented.decode('send.result', written, countingEnv())).toEqual({ ok: true, value: result });
    const update = { kind: 'status-update', task_id: 't', status: { state: 'working' } };
    expect(samDocumented.decode('send.result', update, countingEnv())).toMatchObject({ reason: 'invalid', path: 'kind' });
  });
});

describe('errors', () => {
  it('write a refusal as an invalid request, with details in data', () => {
    for (const kind of ['UNAUTHENTICATED', 'PERMISSION_DENIED', 'INVALID_REQUEST'] as const) {
      expect(sam.error.write(new A2AError(kind, 'no', { info: { taskId: 'T' } }))).toEqual({
        code: -32600,
        message: 'no',
        data: { taskId: 'T' },
      });
    }
    expect(sam.error.read({ code: -32600, message: 'no' }).kind).toBe('INVALID_REQUEST');
    expect(sam.error.write(new A2AError('TASK_NOT_FOUND'))).toEqual({ code: -32001, message: 'Task not found' });
  });

  it('keep the details of the peer in both directions', () => {
    const wire = { code: -32603, message: 'Internal error', data: { details: 'Additional error context', taskId: 'T' } };
    expect(samDocumented.error.write(samDocumented.error.read(wire))).toEqual(wire);
  });

  it('have HTTP 200, except for a body over the limit and errors from before the request is read', () => {
    const { httpStatusOnError } = samDocumented.wire;
    expect([httpStatusOnError('INTERNAL_ERROR'), httpStatusOnError('PAYLOAD_TOO_LARGE'), httpStatusOnError('UNAUTHENTICATED')]).toEqual([
      200, 413, 401,
    ]);
  });
});
