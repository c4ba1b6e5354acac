import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decoded, Logged, Seq, Shape, Shapes, TaskEvent, TaskPage, UnaryOperation } from '#protocol';
import { isStreamOperation, OPERATION_NAMES, seq } from '#protocol';
import type { ProtoCodec } from '../../src/bindings/grpc/adapters/codec.ts';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { event, SHAPES } from '../support/arbitraries.ts';
import { card } from '../support/arbitrary-cards.ts';
import { countingEnv } from '../support/env.ts';

fc.configureGlobal({ seed: Number(process.env['PARLEY_PROPERTY_SEED'] ?? 20_261_115) });
const RUNS = Number(process.env['PARLEY_PROPERTY_RUNS'] ?? 50);

/** Members of cards that 0.3’s proto lacks. */
const NEWER = /"(deviceCode|pkceRequired)"/;

const CODECS = [
  { name: 'A2A 1.0', codec: CODEC_V10 },
  { name: 'A2A 0.3', codec: CODEC_V03 },
];

for (const { name, codec } of CODECS) {
  describe(`protobuf of ${name} keeps what the dialect’s JSON keeps`, () => {
    for (const operation of OPERATION_NAMES.filter((each) => codec.methodOf(each) !== undefined)) {
      it(`${operation}.request`, () => {
        holds(codec, `${operation}.request`, (value) => {
          const bytes = codec.encodeRequest(operation, value as never);
          return codec.decodeRequest(operation, bytes, countingEnv());
        });
      });
      if (isStreamOperation(operation) || operation === 'extendedCard') continue;
      it(`${operation}.result`, () => {
        holds(codec, `${operation}.result`, (value) => resultOver(codec, operation, value));
      });
    }

    it('event', () => {
      holds(codec, 'event', (value) => {
        const { event: kept, seq: number } = codec.decodeEvent(codec.encodeEvent({ event: value as TaskEvent }, true), countingEnv());
        expect(number).toBeUndefined();
        return kept;
      });
    });

    it('extended card', () => {
      fc.assert(
        fc.property(card, (value) => {
          fc.pre(codec === CODEC_V10 || !NEWER.test(JSON.stringify(value)));
          const expected = plain(
            codec.dialect.decode('extendedCard.result', throughJson(codec.dialect.encode('extendedCard.result', value)), countingEnv()),
          );
          expect(withoutDefaults(resultOver(codec, 'extendedCard', value))).toEqual(withoutDefaults(expected));
        }),
        { numRuns: RUNS },
      );
    });
  });
}

describe('sequence numbers', () => {
  it('travel in the metadata of an event, and leave no trace', () => {
    fc.assert(
      fc.property(event, fc.integer({ min: 1 }), (value, at) => {
        const logged: Logged = { event: value, seq: seq(at) };
        for (const { codec } of CODECS) {
          const read = codec.decodeEvent(codec.encodeEvent(logged, true), countingEnv());
          const bare = codec.decodeEvent(codec.encodeEvent(logged, false), countingEnv());
          expect(read.seq).toBe(at satisfies number as Seq);
          expect(bare.seq).toBeUndefined();
          expect(withoutDefaults(read.event)).toEqual(withoutDefaults(bare.event));
        }
      }),
      { numRuns: RUNS },
    );
  });
});

function resultOver(codec: ProtoCodec, operation: UnaryOperation, value: unknown): unknown {
  return codec.decodeResult(operation, codec.encodeResult(operation, value as never), countingEnv());
}

/** Compares a value that went through protobuf with one that went through the JSON of the same dialect. */
function holds(codec: ProtoCodec, shape: Shape, over: (value: unknown) => unknown): void {
  const values = SHAPES[shape];
  if (values === undefined) throw new Error(`no values for ${shape}`);
  fc.assert(
    fc.property(values, (value) => {
      fc.pre(shape !== 'list.result' || isCounted(value));
      const json = throughJson(codec.dialect.encode(shape, value as Shapes[Shape]));
      const expected = plain(codec.dialect.decode(shape, json, countingEnv()));
      expect(withoutDefaults(over(value))).toEqual(withoutDefaults(expected));
    }),
    { numRuns: RUNS },
  );
}

/** A peer that leaves out the counts means that it does not count. */
function isCounted(value: unknown): boolean {
  const { pageSize, totalSize } = value as TaskPage;
  return pageSize > 0 && totalSize > 0;
}

function plain<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Error(JSON.stringify(decoded));
  return decoded.value;
}

function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** What protobuf does not carry (docs/bindings.md): empty lists, `false`, `''`, 0 and -0 of members that are not optional, and `.000` of times. */
function withoutDefaults(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (typeof value === 'string' && TIME.test(value)) return value.replace('.000Z', 'Z');
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([key, each]) => [key, key === 'metadata' ? throughJson(each) : withoutDefaults(each)] as const,
  );
  return Object.fromEntries(entries.filter(([, each]) => !isDefault(each)));
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function isDefault(value: unknown): boolean {
  return value === '' || value === false || value === 0 || (Array.isArray(value) && value.length === 0);
}
