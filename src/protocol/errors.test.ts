import { describe, expect, it, vi } from 'vitest';
import type { ErrorKind } from './errors.ts';
import { A2AError, ERRORS, GRPC_STATUS, isA2AError } from './errors.ts';

const KINDS = Object.keys(ERRORS) as ErrorKind[];

describe('the table of errors', () => {
  it('has the codes of A2A 1.0.1 §5.4', () => {
    const codes = Object.fromEntries(KINDS.map((kind) => [kind, [ERRORS[kind].rpc, ERRORS[kind].http, ERRORS[kind].grpc]]));
    expect(codes).toMatchObject({
      PARSE_ERROR: [-32700, 400, 3],
      METHOD_NOT_FOUND: [-32601, 404, 12],
      TASK_NOT_FOUND: [-32001, 404, 5],
      TASK_NOT_CANCELABLE: [-32002, 400, 9],
      PUSH_NOTIFICATION_NOT_SUPPORTED: [-32003, 400, 9],
      UNSUPPORTED_OPERATION: [-32004, 400, 9],
      CONTENT_TYPE_NOT_SUPPORTED: [-32005, 400, 3],
      INVALID_AGENT_RESPONSE: [-32006, 500, 13],
      EXTENDED_AGENT_CARD_NOT_CONFIGURED: [-32007, 400, 9],
      EXTENSION_SUPPORT_REQUIRED: [-32008, 400, 9],
      VERSION_NOT_SUPPORTED: [-32009, 400, 9],
    });
  });

  it('has a name for every gRPC status and a text for every kind', () => {
    for (const kind of KINDS) {
      expect(GRPC_STATUS[ERRORS[kind].grpc], kind).toMatch(/^[A-Z_]+$/);
      expect(new A2AError(kind).message, kind).toMatch(/\S/);
    }
  });
});

describe('an error', () => {
  it('has the given message, or the text of its kind', () => {
    expect(new A2AError('TASK_NOT_FOUND').message).toBe('Task not found');
    expect(new A2AError('TASK_NOT_FOUND', 'no task t1').message).toBe('no task t1');
    expect(new A2AError('TASK_NOT_FOUND')).toBeInstanceOf(Error);
    expect(new A2AError('TASK_NOT_FOUND').name).toBe('A2AError');
  });

  it('does not send its cause to the peer', () => {
    const cause = new Error('password is hunter2');
    const error = new A2AError('INTERNAL_ERROR', undefined, { cause, field: 'message', info: { taskId: 't' } });
    expect(error.cause).toBe(cause);
    expect(error.details).toEqual({ field: 'message', info: { taskId: 't' } });
    expect(JSON.stringify([error.message, error.details])).not.toContain('hunter2');
    expect(new A2AError('INTERNAL_ERROR')).not.toHaveProperty('cause');
  });

  it('can be made of any thrown value, whose text the peer does not see', () => {
    const own = new A2AError('RATE_LIMITED');
    expect(A2AError.from(own)).toBe(own);
    const thrown = new TypeError('secret');
    expect(A2AError.from(thrown)).toMatchObject({ kind: 'INTERNAL_ERROR', message: 'Internal error', cause: thrown });
    expect(A2AError.from(undefined).kind).toBe('INTERNAL_ERROR');
  });

  it('is recognised by its brand, also if another copy of this module made it', async () => {
    vi.resetModules();
    const copy = await import('./errors.ts');
    expect(copy.A2AError).not.toBe(A2AError);
    const foreign = new copy.A2AError('TASK_NOT_FOUND');
    expect(foreign).not.toBeInstanceOf(A2AError);
    expect(isA2AError(foreign)).toBe(true);
    expect(A2AError.from(foreign)).toBe(foreign);
    for (const other of [{ name: 'A2AError', kind: 'TASK_NOT_FOUND' }, new Error('A2AError'), null, undefined, 'A2AError']) {
      expect(isA2AError(other)).toBe(false);
    }
  });

  it('does not serialize its brand', () => {
    expect(Object.keys(new A2AError('TASK_NOT_FOUND')).toSorted()).toEqual(['details', 'kind', 'name']);
  });
});
