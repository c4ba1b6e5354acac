/**
 * The building blocks of a dialect, for people who write one: `parley-a2a/protocol/dialect`. See
 * docs/dialects.md, "Write your own dialect".
 */
export { type Codec, type Codecs, type DialectSource, defineDialect } from './define.ts';
export { type Codes, codeOf, readError, writePlainError } from './shared/errors.ts';
export {
  attempt,
  countIf,
  fail,
  flagIf,
  freeform,
  id,
  idIf,
  list,
  listIf,
  member,
  memberIf,
  metadataIf,
  object,
  oneOf,
  type Raw,
  type Reader,
  text,
  textIf,
  texts,
  textsIf,
} from './shared/read.ts';
export { envelope, framesOf, plainStream } from './shared/stream.ts';
export { base64, timestampIf } from './shared/values.ts';
