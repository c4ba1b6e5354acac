import { readFileSync } from 'node:fs';
import { create, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import type { Json, Part, Requests, TaskEvent } from '#protocol';
import { artifactId, isA2AError, messageId, pushConfigId, taskId } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import {
  ListTasksResponseSchema,
  MessageSchema,
  PartSchema,
  SendMessageRequestSchema,
} from '../../src/bindings/grpc/adapters/generated/a2a_v10_pb.ts';
import { countingEnv } from '../support/env.ts';

/** Each row of the table in docs/bindings.md, "What protobuf changes", with a value that changes so. */
const PAGE = readFileSync(new URL('../../docs/bindings.md', import.meta.url), 'utf8');
const TABLE = PAGE.slice(PAGE.indexOf('What protobuf changes in a value'), PAGE.indexOf('## Over stdio'));
const ROWS = [...TABLE.matchAll(/^\| (.+?) \| .+ \|$/gm)].map(([, first = '']) => first).filter((first) => first !== 'value');

const send = (more: Partial<Requests['send']['message']>): Requests['send'] => ({
  message: { messageId: messageId('m'), role: 'ROLE_USER', parts: [{ text: 'x' }], ...more },
});
/** A request of 1.0 after protobuf. */
const sent = (more: Partial<Requests['send']['message']>): Requests['send'] =>
  CODEC_V10.decodeRequest('send', CODEC_V10.encodeRequest('send', send(more)), countingEnv());
const part = (value: Part): Part | undefined => sent({ parts: [value] }).message.parts[0];
const data = (value: Json): unknown => part({ data: value })?.data;
const event = (value: TaskEvent): TaskEvent => CODEC_V10.decodeEvent(CODEC_V10.encodeEvent({ event: value }, false), countingEnv()).event;
const refusal = (run: () => unknown): string => {
  try {
    run();
    return 'none';
  } catch (thrown) {
    return isA2AError(thrown) ? thrown.kind : String(thrown);
  }
};
const deep = (levels: number): Json => (levels === 0 ? 1 : [deep(levels - 1)]);

/** Proofs by a piece of the row's first cell. */
const PROOFS: Readonly<Record<string, () => void>> = {
  'append: false': () => {
    const update = { taskId: taskId('t'), contextId: '', artifact: { artifactId: artifactId('a'), parts: [{ text: '' }] } };
    const { artifactUpdate } = event({ artifactUpdate: { ...update, append: false, lastChunk: true } as never });
    expect(artifactUpdate).toEqual({ ...update, lastChunk: true });
    const page = { tasks: [], nextPageToken: '', pageSize: 5, totalSize: 0 };
    const bytes = CODEC_V10.encodeResult('list', page);
    expect(toJson(ListTasksResponseSchema, fromBinary(ListTasksResponseSchema, bytes))).toEqual({ pageSize: 5 });
    expect(CODEC_V10.decodeResult('list', bytes, countingEnv())).toEqual(page);
  },
  historyLength: () => {
    const over = (request: Requests['list']) => CODEC_V10.decodeRequest('list', CODEC_V10.encodeRequest('list', request), countingEnv());
    expect(over({ historyLength: 0, includeArtifacts: false, pageSize: 1 })).toEqual({
      ...{ historyLength: 0, includeArtifacts: false, pageSize: 1 },
    });
    expect(over({ pageSize: 0 })).toEqual({});
    const old = CODEC_V03.encodeRequest('get', { id: taskId('t'), historyLength: 0 });
    expect(CODEC_V03.decodeRequest('get', old, countingEnv())).toEqual({ id: 't' });
  },
  '2^53': () => expect(data(JSON.parse('9007199254740993'))).toBe(9007199254740992),
  '+02:00': () => {
    const status = (timestamp: string) =>
      event({ statusUpdate: { taskId: taskId('t'), status: { state: 'TASK_STATE_WORKING', timestamp } } as never }).statusUpdate?.status
        .timestamp;
    expect(status('2026-01-01T00:00:00.000Z')).toBe('2026-01-01T00:00:00Z');
    expect(status('2026-01-01T02:00:00.5+02:00')).toBe('2026-01-01T00:00:00.500Z');
  },
  base64url: () => expect(part({ raw: '-_-_' } as Part)).toMatchObject({ raw: '+/+/' }),
  surrogate: () => {
    expect(part({ text: 'a\ud800b' })?.text).toBe('a\ufffdb');
    expect(data({ 'k\udc00': ['\ud800'] })).toEqual({ 'k\ufffd': ['\ufffd'] });
  },
  '64 levels': () => {
    expect(data(deep(63))).toEqual(deep(63));
    expect(refusal(() => data(deep(65)))).toBe('INVALID_PARAMS');
  },
  'without a kind': () => {
    const decode = (bytes: Uint8Array) => () => CODEC_V10.decodeRequest('send', bytes, countingEnv());
    const value = (kind: unknown) => {
      const content = { case: 'data', value: { $typeName: 'google.protobuf.Value', kind } };
      const message = create(MessageSchema, { messageId: 'm', role: 1, parts: [create(PartSchema, { content } as never)] });
      return toBinary(SendMessageRequestSchema, create(SendMessageRequestSchema, { message }));
    };
    const role = fromJson(SendMessageRequestSchema, { message: { messageId: 'm', role: 99, parts: [{ text: 'x' }] } });
    expect(refusal(decode(value({ case: undefined })))).toBe('INVALID_REQUEST');
    expect(refusal(decode(value({ case: 'numberValue', value: Number.NaN })))).toBe('INVALID_REQUEST');
    expect(refusal(decode(toBinary(SendMessageRequestSchema, role)))).toBe('INVALID_PARAMS');
  },
  'does not have': () => {
    const old = CODEC_V03.encodeRequest('send', send({ referenceTaskIds: [taskId('t')] }));
    expect(CODEC_V03.decodeRequest('send', old, countingEnv()).message.referenceTaskIds).toBeUndefined();
    expect(sent({ referenceTaskIds: [taskId('t')] }).message.referenceTaskIds).toEqual(['t']);
  },
};

describe('what protobuf changes', () => {
  it('is listed, and each row has a proof', () => {
    expect(ROWS.length).toBe(Object.keys(PROOFS).length);
    for (const row of ROWS) expect(Object.keys(PROOFS).filter((name) => row.includes(name)).length, row).toBe(1);
  });

  it.each(ROWS)('%s', (row) => {
    const name = Object.keys(PROOFS).find((each) => row.includes(each)) ?? '';
    PROOFS[name]?.();
  });
});

describe('what protobuf keeps', () => {
  it('text that is empty, null, nested nulls, empty free JSON, and -0', () => {
    expect(Object.is(data(-0), -0)).toBe(true);
    expect(part({ text: '' })).toEqual({ text: '' });
    expect(data(null)).toBeNull();
    expect(data(JSON.parse('{"a":[null,{"b":null}],"e":{},"f":[],"g":"","h":false,"i":0}'))).toEqual(
      JSON.parse('{"a":[null,{"b":null}],"e":{},"f":[],"g":"","h":false,"i":0}'),
    );
    expect(sent({ metadata: {} }).message.metadata).toEqual({});
    const config = { taskId: taskId('t'), id: pushConfigId('c'), url: 'https://example.org/h', token: '' };
    expect(CODEC_V10.decodeRequest('push.create', CODEC_V10.encodeRequest('push.create', config), countingEnv())).toMatchObject({
      ...{ taskId: 't', id: 'c' },
    });
  });
});
