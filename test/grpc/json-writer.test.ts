import { fromJson, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, Results, UnaryOperation } from '#protocol';
import { isStreamOperation, OPERATION_NAMES } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { StreamResponseSchema } from '../../src/bindings/grpc/adapters/generated/a2a_v10_pb.ts';
import { bytesOfJson } from '../../src/bindings/grpc/adapters/json-writer.ts';
import { protoJson } from '../../src/bindings/grpc/adapters/proto-json.ts';
import { event, SHAPES } from '../support/arbitraries.ts';

fc.configureGlobal({ seed: Number(process.env['PARLEY_PROPERTY_SEED'] ?? 20_261_116) });
const RUNS = Number(process.env['PARLEY_PROPERTY_RUNS'] ?? 100);
const DEPTH = 60;

const direct = (json: Json): Uint8Array | undefined => bytesOfJson(StreamResponseSchema, json, DEPTH);
const byLibrary = (json: Json): Uint8Array =>
  toBinary(StreamResponseSchema, fromJson(StreamResponseSchema, protoJson(json), { ignoreUnknownFields: true }));

for (const [name, codec] of [
  ['A2A 1.0', CODEC_V10],
  ['A2A 0.3', CODEC_V03],
] as const) {
  describe(`bytes of ${name}`, () => {
    const operations = OPERATION_NAMES.filter((each) => !isStreamOperation(each) && each !== 'extendedCard') as readonly UnaryOperation[];
    for (const operation of operations.filter((each) => codec.methodOf(each) !== undefined)) {
      it(`are those of the library for the result of ${operation}`, () => {
        const schema = codec.methodOf(operation)?.output;
        fc.assert(
          fc.property(SHAPES[`${operation}.result`] as fc.Arbitrary<Results[UnaryOperation]>, (value) => {
            if (schema === undefined) throw new Error(`no ${operation}`);
            const bytes = toBinary(schema, codec.writeResult(operation, value));
            expect(codec.encodeResult(operation, value)).toEqual(bytes);
            expect(toBinary(schema, codec.packResult(operation, value))).toEqual(bytes);
          }),
          { numRuns: RUNS },
        );
      });
    }

    it('are those of the library for events', () => {
      const schema = codec.methodOf('stream')?.output;
      fc.assert(
        fc.property(event, (value) => {
          if (schema === undefined) throw new Error('no stream');
          const bytes = toBinary(schema, codec.writeEvent({ event: value }, false));
          expect(codec.encodeEvent({ event: value }, false)).toEqual(bytes);
          expect(toBinary(schema, codec.packEvent({ event: value }, false))).toEqual(bytes);
        }),
        { numRuns: RUNS },
      );
    });
  });
}

const part = (more: Readonly<Record<string, Json>>): Json => ({ artifactUpdate: { artifact: { parts: [more] } } });
const status = (more: Readonly<Record<string, Json>>): Json => ({ statusUpdate: { taskId: 't', status: more } });

describe('JSON is written without the library', () => {
  it.each<[string, Json]>([
    ['text', part({ text: 'é😀'.repeat(100) })],
    ['empty text, which is set in a oneof', part({ text: '' })],
    ['bytes', part({ raw: 'AAEC/w==', mediaType: 'image/png', filename: 'a' })],
    ['data', part({ data: { a: [1, -0.5, null, true, { b: {} }, []], c: 'x' } })],
    ['null as data', part({ data: null })],
    ['a list as data', part({ data: [[], [1]] })],
    ['metadata', { statusUpdate: { taskId: 't', metadata: { n: 1e300, empty: {} } } }],
    ['a time', status({ state: 'TASK_STATE_WORKING', timestamp: '2026-11-16T10:00:00.123Z' })],
    ['a time before 1970', status({ state: 'TASK_STATE_WORKING', timestamp: '1969-12-31T23:59:59.900Z' })],
    ['members that are null', { statusUpdate: { taskId: 't', status: null } }],
    ['the first value of an enum', status({ state: 'TASK_STATE_UNSPECIFIED' })],
    ['flags', { artifactUpdate: { append: false, lastChunk: true } }],
  ])('%s', (_, json) => {
    expect(direct(json)).toEqual(byLibrary(json));
  });

  it('except half of a surrogate pair, which becomes U+FFFD', () => {
    expect(direct(part({ text: 'a\ud800b' }))).toEqual(byLibrary(part({ text: 'a\ufffdb' })));
  });
});

describe('JSON is left to the library', () => {
  const deep = (levels: number): Json => (levels === 0 ? 1 : { a: deep(levels - 1) });

  it.each<[string, Json]>([
    ['with names of the proto file', { status_update: { task_id: 't' } }],
    ['with unknown members', status({ state: 'TASK_STATE_WORKING', other: 1 })],
    ['with two members of a oneof', part({ text: 'a', url: 'b' })],
    ['with base64 that is none', part({ raw: '*' })],
    ['with the number of an enum value', status({ state: 1 })],
    ['with an unknown enum value', status({ state: 'TASK_STATE_NEW' })],
    ['with a time in another form', status({ timestamp: '2026-11-16T10:00:00Z' })],
    ['with a wrong type', part({ text: 1 })],
    ['that is too deep', part({ data: deep(40) })],
    ['that is no object', 1],
  ])('%s', (_, json) => {
    expect(direct(json)).toBeUndefined();
  });
});
