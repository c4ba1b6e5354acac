import { describe, expect, it } from 'vitest';
import { A2AError } from '../../errors.ts';
import { dialectId } from '../../ids.ts';
import { createRegistry } from '../create-registry.ts';
import { DIALECTS } from '../registry.ts';
import { v03, v03Rest, v03TaskId } from './dialect.ts';

const registry = createRegistry(DIALECTS);

describe('detection of 0.3', () => {
  const kind = { message: { kind: 'message', role: 'user', parts: [] } };
  it('recognises its methods, with more confidence if there is a kind', () => {
    expect(v03.detect({ method: 'message/send', params: kind })).toBe('shape');
    expect(v03.detect({ method: 'message/send', params: { message: { parts: [{ text: 'a' }, { kind: 'text', text: 'b' }] } } })).toBe(
      'shape',
    );
    expect(v03.detect({ method: 'message/send', params: { message: { parts: [{ text: 'a' }] } } })).toBe('grammar');
    expect(v03.detect({ method: 'message/send', params: { message: { parts: 'none', kind: 7 } } })).toBe('grammar');
    for (const method of ['tasks/get', 'tasks/pushNotificationConfig/list', 'agent/authenticatedExtendedCard', 'tasks/list']) {
      expect(v03.detect({ method, params: null })).toBe('grammar');
    }
    for (const method of ['tasks/send', 'tasks/subscribe', 'SendMessage', 'message/', '']) expect(v03.detect({ method })).toBe('no');
    expect(v03.detect({ path: '/a2a/jsonrpc' })).toBe('no');
  });

  it('distinguishes taskId from the official spelling', () => {
    const found = (method: string, params: unknown) => registry.detect({ path: '/a2a/jsonrpc', method, params })?.id;
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/resubscribe']) {
      expect(found(method, { taskId: 't1' })).toBe('v03.taskid');
      expect(found(method, { id: 't1' })).toBe('v03');
      expect(found(method, { id: 't1', taskId: 't1' })).toBe('v03');
      expect(found(method, { taskId: 7 })).toBe('v03');
    }
    expect(found('tasks/pushNotificationConfig/set', { taskId: 't1' })).toBe('v03');
  });

  it('leaves get, cancel and resubscribe to the dialect in which the task was made', () => {
    const hints = { method: 'tasks/get', params: { id: 't1' } };
    expect(registry.detect(hints, () => dialectId('v02.5'))?.id).toBe('v02.5');
    expect(registry.detect(hints, () => dialectId('v10'))?.id).toBe('v03');
  });

  it('recognises the paths of REST', () => {
    for (const path of ['/v1/message:send', '/v1/message:stream', '/v1/tasks', '/v1/tasks?a=b', '/v1/tasks/t1:cancel', '/v1/card']) {
      expect(v03Rest.detect({ path })).toBe('path');
    }
    for (const path of ['/v1/chat/completions', '/v1/models', '/v1/tasksx', '/v1/message:other', '/tasks/t1', '/x/v1/card']) {
      expect(v03Rest.detect({ path })).toBe('no');
    }
    expect(v03Rest.detect({ path: '/v1/card', method: 'message/send' })).toBe('no');
  });
});

describe('behaviour of 0.3', () => {
  it('is described by its traits', () => {
    expect(v03.traits).toEqual({
      callerNamesTask: false,
      resumesByContext: true,
      cancelFinished: 'error',
      cancelsOnce: true,
      directMessage: 'allowed',
      historyDefault: 'all',
      subscribeFinished: 'returns-task',
      streamsThroughQuestions: true,
    });
    const { httpStatusOnError: _, ...wire } = v03.wire;
    expect(wire).toEqual({
      timeoutMs: 30_000,
      bodyBytesMax: 1_048_576,
      extensionsHeader: 'X-A2A-Extensions',
      versionHeader: undefined,
      streamErrors: 'event',
    });
    expect(v03TaskId.traits).toEqual({ ...v03.traits, cancelFinished: 'returns-task' });
  });

  it('has HTTP 200 for errors, but 400 for bad JSON and their own for errors from before the request is read', () => {
    const status = v03.wire.httpStatusOnError;
    for (const kind of [
      'INVALID_REQUEST',
      'METHOD_NOT_FOUND',
      'INVALID_PARAMS',
      'TASK_NOT_FOUND',
      'TASK_FINISHED',
      'INTERNAL_ERROR',
    ] as const) {
      expect(status(kind)).toBe(200);
    }
    expect(status('PARSE_ERROR')).toBe(400);
    expect(
      (['UNAUTHENTICATED', 'PERMISSION_DENIED', 'PAYLOAD_TOO_LARGE', 'RATE_LIMITED', 'UNAVAILABLE'] as const).map((kind) => status(kind)),
    ).toEqual([401, 403, 413, 429, 503]);
  });

  it('has the codes of the specification', () => {
    const code = (kind: ConstructorParameters<typeof A2AError>[0]) => v03.error.write(new A2AError(kind)).code;
    expect(code('TASK_FINISHED')).toBe(-32600);
    expect(code('STREAMING_NOT_SUPPORTED')).toBe(-32004);
    expect(code('EXTENDED_AGENT_CARD_NOT_CONFIGURED')).toBe(-32007);
    expect(code('EXTENSION_SUPPORT_REQUIRED')).toBe(-32008);
    expect(code('VERSION_NOT_SUPPORTED')).toBe(-32009);
    expect(v03.error.read({ code: -32600, message: 'x' }).kind).toBe('INVALID_REQUEST');
    expect(v03.error.read({ code: -32004, message: 'x' }).kind).toBe('UNSUPPORTED_OPERATION');
    expect(v03.error.read({ code: -32055, message: 'x' })).toMatchObject({ kind: 'INTERNAL_ERROR', details: { code: -32055 } });
    expect(v03.error.write(new A2AError('INVALID_PARAMS', 'bad', { field: 'message', info: { a: 'b' } }))).toEqual({
      code: -32602,
      message: 'bad',
    });
  });
});

describe('errors over REST', () => {
  const rest = v03Rest.rest;
  if (rest === undefined) throw new Error('no grammar');

  it('have the statuses and members of JS 0.3.13, and no 5xx for errors of the caller', () => {
    const status = (kind: ConstructorParameters<typeof A2AError>[0]) => rest.writeError(new A2AError(kind)).status;
    expect((['PARSE_ERROR', 'INVALID_REQUEST', 'INVALID_PARAMS', 'TASK_FINISHED'] as const).map(status)).toEqual([400, 400, 400, 400]);
    expect((['METHOD_NOT_FOUND', 'TASK_NOT_FOUND', 'TASK_NOT_CANCELABLE'] as const).map(status)).toEqual([404, 404, 409]);
    expect((['PUSH_NOTIFICATION_NOT_SUPPORTED', 'UNSUPPORTED_OPERATION', 'INTERNAL_ERROR'] as const).map(status)).toEqual([400, 400, 500]);
    expect((['CONTENT_TYPE_NOT_SUPPORTED', 'UNAUTHENTICATED', 'RATE_LIMITED'] as const).map(status)).toEqual([400, 401, 429]);
    expect(rest.writeError(new A2AError('TASK_FINISHED', 'done')).body).toMatchObject({
      code: -32600,
      message: 'done',
      type: 'UnsupportedOperationError',
    });
  });

  it('are read by their code, or by the status if there is none', () => {
    expect(rest.readError(400, { code: -32003, message: 'no push', data: { a: 1 } })).toMatchObject({
      kind: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
      message: 'no push',
      details: { data: { a: 1 } },
    });
    expect(rest.readError(500, { error: { code: -32001, message: 'gone' } })).toMatchObject({ kind: 'TASK_NOT_FOUND', message: 'gone' });
    expect(rest.readError(422, { message: 'bad field' })).toMatchObject({ kind: 'INVALID_PARAMS', message: 'bad field' });
    expect(rest.readError(405, { detail: 'Method Not Allowed' })).toMatchObject({ kind: 'INTERNAL_ERROR', message: 'Method Not Allowed' });
    const kinds = [400, 401, 403, 404, 409, 413, 415, 429, 501, 502, 503].map((status) => rest.readError(status, '<html>').kind);
    expect(kinds).toEqual([
      'INVALID_REQUEST',
      'UNAUTHENTICATED',
      'PERMISSION_DENIED',
      'TASK_NOT_FOUND',
      'TASK_NOT_CANCELABLE',
      'PAYLOAD_TOO_LARGE',
      'CONTENT_TYPE_NOT_SUPPORTED',
      'RATE_LIMITED',
      'UNSUPPORTED_OPERATION',
      'INVALID_AGENT_RESPONSE',
      'UNAVAILABLE',
    ]);
  });
});
