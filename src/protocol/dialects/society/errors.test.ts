import { describe, expect, it } from 'vitest';
import type { ErrorDetails, ErrorKind } from '../../errors.ts';
import { A2AError } from '../../errors.ts';
import { society } from './dialect.ts';

const { read, write } = society.error;

describe('texts of errors that a binding finds', () => {
  const cases: readonly (readonly [ErrorKind, string | undefined, ErrorDetails, number, string])[] = [
    ['PAYLOAD_TOO_LARGE', 'Request body too large', {}, -32700, 'request body too large'],
    ['PARSE_ERROR', 'Unexpected token', { field: 'x' }, -32700, 'parse error'],
    ['INVALID_REQUEST', 'must be 2.0', { field: 'jsonrpc' }, -32600, 'invalid request: jsonrpc must be "2.0"'],
    ['INVALID_REQUEST', 'must be a string', { field: 'method' }, -32600, 'invalid request: method is required'],
    ['INVALID_REQUEST', 'must be a string or a number', { field: 'id' }, -32600, 'invalid request: id is required'],
    ['INVALID_REQUEST', 'batches are not supported', {}, -32600, 'invalid request: batches are not supported'],
    ['METHOD_NOT_FOUND', 'whatever', { info: { method: 'tasks/get' } }, -32601, 'method not found: tasks/get'],
    ['METHOD_NOT_FOUND', 'Society has no get', {}, -32601, 'method not found: Society has no get'],
    ['INVALID_PARAMS', 'task id is required', { field: 'id' }, -32602, 'invalid params: task id is required'],
    ['INVALID_PARAMS', 'unknown value 7', {}, -32602, 'invalid params: unknown value 7'],
    ['INTERNAL_ERROR', undefined, {}, -32603, 'handler error: Internal error'],
    ['INVALID_AGENT_RESPONSE', 'no answer', {}, -32603, 'handler error: no answer'],
    ['RATE_LIMITED', 'later', { retryAfterMs: 5 }, -31429, 'later'],
    ['INTERNAL_ERROR', 'odd', { code: 42 }, 42, 'handler error: odd'],
  ];
  it.each(cases)('%s %s %j', (kind, said, details, code, message) => {
    // Code and words, and nothing else: its documents show no `data`.
    expect(write(new A2AError(kind, said, details))).toEqual({ code, message });
  });
});

describe('reading the texts', () => {
  it.each([
    [-32700, 'request body too large', 'PAYLOAD_TOO_LARGE', 'request body too large'],
    [-32700, 'parse error', 'PARSE_ERROR', 'parse error'],
    [-32600, 'invalid request: id is required', 'INVALID_REQUEST', 'id is required'],
    [-32602, 'invalid params: task id is required', 'INVALID_PARAMS', 'task id is required'],
    [-32602, 'invalid params', 'INVALID_PARAMS', 'invalid params'],
    [-32603, 'handler error: saving thread: disk full', 'INTERNAL_ERROR', 'saving thread: disk full'],
    [-32601, 'method not found: tasks/get', 'METHOD_NOT_FOUND', 'method not found: tasks/get'],
  ])('%d %s', (code, message, kind, said) => {
    const error = read({ code, message });
    expect(error).toMatchObject({ kind, message: said });
    if (message !== 'invalid params') expect(write(error)).toEqual({ code, message });
  });

  it('returns the method', () => {
    expect(read({ code: -32601, message: 'method not found: tasks/get' }).details).toEqual({ info: { method: 'tasks/get' } });
  });

  it('accepts an error without a text', () => {
    expect(read({ code: -32603 })).toMatchObject({ kind: 'INTERNAL_ERROR' });
    expect(read('no')).toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
  });
});

it('has HTTP 200, except for a body over the limit and errors from before the request is read', () => {
  const status = society.wire.httpStatusOnError;
  const kinds: ErrorKind[] = ['PARSE_ERROR', 'INVALID_REQUEST', 'METHOD_NOT_FOUND', 'INVALID_PARAMS', 'INTERNAL_ERROR', 'TASK_NOT_FOUND'];
  expect(kinds.map(status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect([status('PAYLOAD_TOO_LARGE'), status('UNAUTHENTICATED')]).toEqual([413, 401]);
});
