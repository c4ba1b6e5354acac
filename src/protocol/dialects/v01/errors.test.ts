import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '../../errors.ts';
import { A2AError, ERRORS } from '../../errors.ts';
import { v01 } from './dialect.ts';

const { read, write } = v01.error;
const codeOf = (kind: ErrorKind): number => write(new A2AError(kind)).code;

describe("0.1's error codes", () => {
  it('has a code for every kind, and never uses a code in its later meaning', () => {
    expect(Object.fromEntries((Object.keys(ERRORS) as ErrorKind[]).map((kind) => [kind, codeOf(kind)]))).toEqual({
      PARSE_ERROR: -32700,
      INVALID_REQUEST: -32600,
      METHOD_NOT_FOUND: -32601,
      INVALID_PARAMS: -32602,
      INTERNAL_ERROR: -32603,
      TASK_NOT_FOUND: -32001,
      TASK_NOT_CANCELABLE: -32002,
      PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
      UNSUPPORTED_OPERATION: -32004,
      CONTENT_TYPE_NOT_SUPPORTED: -32005,
      INVALID_AGENT_RESPONSE: -32603,
      EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32004,
      EXTENSION_SUPPORT_REQUIRED: -32004,
      VERSION_NOT_SUPPORTED: -32004,
      TASK_GENERATION_MISMATCH: -32004,
      TASK_FINISHED: -32009,
      STREAMING_NOT_SUPPORTED: -32006,
      PAYLOAD_TOO_LARGE: -32600,
      UNAUTHENTICATED: -32007,
      PERMISSION_DENIED: -32008,
      RATE_LIMITED: -32010,
      UNAVAILABLE: -32011,
    });
  });

  it.each([
    [-32004, 'UNSUPPORTED_OPERATION'],
    [-32006, 'STREAMING_NOT_SUPPORTED'],
    [-32007, 'UNAUTHENTICATED'],
    [-32008, 'PERMISSION_DENIED'],
    [-32009, 'TASK_FINISHED'],
    [-32010, 'RATE_LIMITED'],
    [-32011, 'UNAVAILABLE'],
    [-32600, 'INVALID_REQUEST'],
    [-32603, 'INTERNAL_ERROR'],
  ])('reads %d as %s', (code, kind) => expect(read({ code, message: 'm' })).toMatchObject({ kind, message: 'm' }));
});

describe("0.1's error words", () => {
  it('are those of the schema, with ours in data', () => {
    const error = new A2AError('TASK_NOT_FOUND', 'no task t9', { info: { taskId: 't9' } });
    expect(write(error)).toEqual({ code: -32001, message: 'Task not found', data: { taskId: 't9', detail: 'no task t9' } });
    expect(write(new A2AError('TASK_NOT_FOUND'))).toEqual({ code: -32001, message: 'Task not found' });
  });

  it('are ours where the schema fixes none', () => {
    expect(write(new A2AError('RATE_LIMITED', 'come back at noon'))).toEqual({ code: -32010, message: 'come back at noon' });
  });

  it('are read back unchanged', () => {
    const error = new A2AError('INVALID_PARAMS', 'must not be empty', { field: 'id', info: { hint: 'x' } });
    expect(read(write(error))).toMatchObject({
      kind: 'INVALID_PARAMS',
      message: 'must not be empty',
      details: { field: 'id', data: { hint: 'x' } },
    });
    expect(write(read(write(error)))).toEqual(write(error));
  });

  it("keep a peer's own code and words", () => {
    const error = read({ code: 42, message: 'odd', data: { a: 1 } });
    expect(write(error)).toEqual({ code: 42, message: 'odd', data: { a: 1 } });
  });
});

it('has HTTP 200, except for errors from before the request is read', () => {
  const status = v01.wire.httpStatusOnError;
  expect([status('TASK_NOT_FOUND'), status('INTERNAL_ERROR'), status('PARSE_ERROR')]).toEqual([200, 200, 200]);
  expect([status('UNAUTHENTICATED'), status('PERMISSION_DENIED'), status('RATE_LIMITED'), status('PAYLOAD_TOO_LARGE')]).toEqual([
    401, 403, 429, 413,
  ]);
});
