import fc from 'fast-check';
import type { Json, Metadata, TaskState } from '#protocol';
import { TASK_STATES } from '#protocol';

/**
 * Canonical values in the form that our readers produce: empty optional strings and false flags are left out, as in proto3, and numbers
 * are such as JSON can express.
 */
export const ID: fc.Arbitrary<string> = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,20}$/);
export const WORDS: fc.Arbitrary<string> = fc.oneof(
  fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }),
  fc.constantFrom('hi', 'y', 'line\nbreak', '{"a":1}', ' '),
);
export const KEY: fc.Arbitrary<string> = fc
  .oneof(fc.stringMatching(/^[a-z_][a-zA-Z_]{0,12}$/), fc.constantFrom('agent_name', 'tool_call_id', 'constructor', 'toString'))
  .filter((key) => key !== '__proto__');
const NUMBER = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((number) => (number === 0 ? 0 : number));
const LEAF = fc.oneof(fc.string({ maxLength: 10 }), NUMBER, fc.boolean(), fc.constant(null));
export const JSON_VALUE: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof({ depthSize: 'small' }, LEAF, fc.array(tie('json'), { maxLength: 3 }), fc.dictionary(KEY, tie('json'), { maxKeys: 3 })),
})).json;
export const METADATA: fc.Arbitrary<Metadata> = fc.dictionary(KEY, JSON_VALUE, { minKeys: 1, maxKeys: 3 }) as fc.Arbitrary<Metadata>;
export const TIMESTAMP: fc.Arbitrary<string> = fc
  .date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
export const MEDIA_TYPE: fc.Arbitrary<string> = fc.constantFrom(
  'text/plain',
  'application/json',
  'image/png',
  'audio/wav',
  'application/pdf',
);
export const FILENAME: fc.Arbitrary<string> = fc.constantFrom('report.pdf', 'a b.txt', 'ünï.bin');
export const BASE64: fc.Arbitrary<string> = fc
  .uint8Array({ minLength: 1, maxLength: 24 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
export const URL_TEXT: fc.Arbitrary<string> = fc.constantFrom(
  'https://files.example/a.pdf',
  'artifact://session/file.pdf',
  'https://x.example/?q=1&r=ü',
);
export const STATE: fc.Arbitrary<TaskState> = fc.constantFrom(...(Object.keys(TASK_STATES) as TaskState[]));

/** fast-check makes optional members absent; branding and readonly are types only. */
export const shaped = <T>(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<T> => arbitrary as fc.Arbitrary<T>;
export const some = <T>(arbitrary: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<T[]> => fc.array(arbitrary, { minLength: 1, maxLength });
