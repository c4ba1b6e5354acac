import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '../../errors.ts';
import { A2AError, ERRORS } from '../../errors.ts';
import { error, httpStatusOnError } from './errors.ts';

describe('errors', () => {
  it('has PromptKit’s text, followed by ours if ours adds something', () => {
    expect(error.write(new A2AError('TASK_NOT_FOUND'))).toEqual({ code: -32001, message: 'Task not found' });
    expect(error.write(new A2AError('INVALID_PARAMS', 'message is required', { field: 'message' }))).toEqual({
      code: -32602,
      message: 'Invalid params: message is required',
      data: { field: 'message' },
    });
    expect(error.write(new A2AError('RATE_LIMITED'))).toEqual({ code: -32000, message: 'Too many requests' });
  });

  it('does not repeat its text when an error is passed on', () => {
    const once = error.write(new A2AError('TASK_NOT_CANCELABLE', 'it is completed'));
    expect(once).toEqual({ code: -32001, message: 'Cancel failed: it is completed' });
    expect(error.write(error.read(once))).toEqual(once);
  });

  it('reveals nothing about a failed authentication', () => {
    expect(error.write(new A2AError('UNAUTHENTICATED', 'token of alice expired'))).toEqual({
      code: -32000,
      message: 'Authentication failed',
    });
    expect(httpStatusOnError('UNAUTHENTICATED')).toBe(401);
  });

  const told: readonly ErrorKind[] = [
    'PARSE_ERROR',
    'PAYLOAD_TOO_LARGE',
    'INVALID_REQUEST',
    'METHOD_NOT_FOUND',
    'STREAMING_NOT_SUPPORTED',
    'INVALID_PARAMS',
    'CONTENT_TYPE_NOT_SUPPORTED',
    'TASK_NOT_FOUND',
    'TASK_NOT_CANCELABLE',
    'UNAUTHENTICATED',
  ];
  for (const kind of Object.keys(ERRORS) as ErrorKind[]) {
    const expected = told.includes(kind) ? kind : 'INTERNAL_ERROR';
    it(`reads what it wrote for ${kind} as ${expected}`, () => {
      expect(error.read(error.write(new A2AError(kind, 'because'))).kind).toBe(expected);
    });
    it(`answers ${kind} under 200 unless it is refused at the door`, () => {
      const door = ['PAYLOAD_TOO_LARGE', 'UNAUTHENTICATED', 'PERMISSION_DENIED', 'RATE_LIMITED', 'UNAVAILABLE'].includes(kind);
      expect(httpStatusOnError(kind)).toBe(door ? ERRORS[kind].http : 200);
    });
  }

  it('reads a value that is no error object', () => {
    expect(error.read('boom').kind).toBe('INVALID_AGENT_RESPONSE');
    expect(error.read({ code: -32603, message: 'Internal error' })).toMatchObject({ kind: 'INTERNAL_ERROR', details: { code: -32603 } });
  });
});
