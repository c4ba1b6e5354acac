import { create, fromJson, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '#protocol';
import { A2AError, ERRORS, isA2AError, keysOf } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { MessageSchema, PartSchema, SendMessageRequestSchema } from '../../src/bindings/grpc/adapters/generated/a2a_v10_pb.ts';
import { StatusSchema } from '../../src/bindings/grpc/adapters/generated/google_rpc_pb.ts';
import { errorOfStatus, statusOf } from '../../src/bindings/grpc/adapters/status.ts';
import { countingEnv } from '../support/env.ts';

const USER = { messageId: 'm', role: 'ROLE_USER' };

function sendOf(message: object): Uint8Array {
  return toBinary(
    SendMessageRequestSchema,
    fromJson(SendMessageRequestSchema, { message: { ...USER, ...message } }, { recursionLimit: 500 }),
  );
}

function kindOf(run: () => unknown): ErrorKind | 'none' {
  try {
    run();
    return 'none';
  } catch (thrown) {
    if (!isA2AError(thrown)) throw thrown;
    return thrown.kind;
  }
}

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)];
}

describe('a request that is not a valid message is the caller’s fault', () => {
  const cases: readonly (readonly [string, Uint8Array])[] = [
    ['random bytes', Uint8Array.of(255, 255, 255, 255, 255)],
    ['a length beyond the end', Uint8Array.of(18, 100, 1)],
    ['text that is not UTF-8', Uint8Array.of(10, 2, 0xc3, 0x28)],
    ['an empty request', new Uint8Array()],
    ['a part without content', sendOf({ parts: [{}] })],
    ['an unknown role', sendOf({ role: 7, parts: [{ text: 'hi' }] })],
    ['no parts', sendOf({ parts: [] })],
    ['JSON that is too deep', sendOf({ parts: [{ data: nested(70) }] })],
    ['a value without a kind', valueless()],
  ];
  for (const [name, bytes] of cases) {
    it(name, () => {
      const kind = kindOf(() => CODEC_V10.decodeRequest('send', bytes, countingEnv()));
      expect(['INVALID_REQUEST', 'INVALID_PARAMS']).toContain(kind);
    });
  }

  it('takes JSON as deep as over HTTP', () => {
    expect(kindOf(() => CODEC_V10.decodeRequest('send', sendOf({ parts: [{ data: nested(63) }] }), countingEnv()))).toBe('none');
  });

  it('and a bad response is the agent’s', () => {
    expect(kindOf(() => CODEC_V10.decodeResult('get', Uint8Array.of(255), countingEnv()))).toBe('INVALID_AGENT_RESPONSE');
    expect(kindOf(() => CODEC_V10.decodeEvent(new Uint8Array(), countingEnv()))).toBe('INVALID_AGENT_RESPONSE');
  });
});

function valueless(): Uint8Array {
  const part = create(PartSchema, { content: { case: 'data', value: { $typeName: 'google.protobuf.Value', kind: { case: undefined } } } });
  const message = create(MessageSchema, { messageId: 'm', role: 1, parts: [part] });
  return toBinary(SendMessageRequestSchema, create(SendMessageRequestSchema, { message }));
}

describe('errors', () => {
  for (const kind of keysOf(ERRORS)) {
    it(`${kind} has its status and its reason`, () => {
      const error = new A2AError(kind, 'what happened', { field: 'message.parts', info: { taskId: 't' }, retryAfterMs: 1500 });
      const status = statusOf(error);
      expect(status.code).toBe(ERRORS[kind].grpc);
      const read = errorOfStatus(status);
      expect(ERRORS[read.kind].reason).toBe(ERRORS[kind].reason);
      expect(read.message).toBe('what happened');
      expect(read.details).toMatchObject({ field: 'message.parts', info: { taskId: 't' }, retryAfterMs: 1500 });
    });
  }

  it('reads a bare status, and the class names of the official Python SDK for 0.3', () => {
    expect(errorOfStatus({ code: 5, message: 'no such task' }).kind).toBe('TASK_NOT_FOUND');
    expect(errorOfStatus({ code: 16, message: '' }).kind).toBe('UNAUTHENTICATED');
    expect(errorOfStatus({ code: 12, message: 'unknown method' }).kind).toBe('METHOD_NOT_FOUND');
    expect(errorOfStatus({ code: 12, message: 'TaskNotCancelableError: it is finished' }).kind).toBe('TASK_NOT_CANCELABLE');
    expect(errorOfStatus({ code: 99, message: 'odd' }).kind).toBe('INTERNAL_ERROR');
  });

  it('reads a status whose details it does not know', () => {
    const odd = { typeUrl: 'type.googleapis.com/acme.Odd', value: Uint8Array.of(1, 2) };
    const details = toBinary(StatusSchema, create(StatusSchema, { code: 5, details: [odd] }));
    expect(errorOfStatus({ code: 5, message: 'gone', details }).kind).toBe('TASK_NOT_FOUND');
    expect(errorOfStatus({ code: 5, message: 'gone', details: Uint8Array.of(255) }).kind).toBe('TASK_NOT_FOUND');
  });
});

describe('the two services', () => {
  it('name their methods as their proto files do', () => {
    expect(CODEC_V10.operationOf('SubscribeToTask')).toBe('subscribe');
    expect(CODEC_V03.operationOf('TaskSubscription')).toBe('subscribe');
    expect(CODEC_V10.service.typeName).toBe('lf.a2a.v1.A2AService');
    expect(CODEC_V03.service.typeName).toBe('a2a.v1.A2AService');
    expect(CODEC_V03.methodOf('list')).toBeUndefined();
    expect(kindOf(() => CODEC_V03.encodeRequest('list', {}))).toBe('UNSUPPORTED_OPERATION');
  });
});
