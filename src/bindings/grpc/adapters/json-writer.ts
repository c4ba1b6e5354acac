import type { DescEnum, DescField, DescMessage } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { BinaryWriter, base64Decode, WireType } from '@bufbuild/protobuf/wire';
import type { Json } from '#protocol';
import { isObject } from '#protocol';

/**
 * Writes the ProtoJSON of a message as protobuf bytes, without a message object in between: the hot path of answers and events. The bytes are
 * those of `toBinary(schema, fromJson(schema, json))`. Undefined: the JSON has something that this writer leaves to the library.
 */
export function bytesOfJson(schema: DescMessage, json: Json, depthMax: number): Uint8Array | undefined {
  const writer = spare ?? new BinaryWriter();
  spare = undefined; // and it stays so if this write throws
  const isWhole = writerOf(schema)(writer, json, depthMax);
  const bytes = writer.finish();
  if (bytes.length <= SPARE_BYTES_MAX) spare = writer;
  return isWhole ? bytes : undefined;
}

/** A writer with its buffer, for the next message: a new one would grow from 128 bytes. */
let spare: BinaryWriter | undefined;
const SPARE_BYTES_MAX = 65_536;

/** Writes a message, or a field with its tag. False: the library has to write the whole message. */
type WriteJson = (writer: BinaryWriter, json: Json, depthLeft: number) => boolean;

interface FieldWriter {
  readonly field: DescField;
  readonly write: WriteJson;
}

const IMPLICIT_PRESENCE = 2;
const writers = new WeakMap<DescMessage, WriteJson>();

function writerOf(schema: DescMessage): WriteJson {
  const known = writers.get(schema);
  if (known !== undefined) return known;
  const fields: FieldWriter[] = [];
  const write: WriteJson = WELL_KNOWN[schema.typeName] ?? writeMessage(fields);
  // Before the fields are compiled: a message may contain itself.
  writers.set(schema, write);
  for (const field of schema.fields.toSorted((one, other) => one.number - other.number)) fields.push({ field, write: fieldWriter(field) });
  return write;
}

function writeMessage(fields: readonly FieldWriter[]): WriteJson {
  return (writer, json, depthLeft) => {
    if (!isObject(json) || depthLeft <= 0) return false;
    let left = Object.keys(json).length;
    let oneof: DescField['oneof'];
    for (const { field, write } of fields) {
      const value = json[field.jsonName] as Json | undefined;
      if (value === undefined) continue;
      left -= 1;
      if (value === null && field.message?.typeName !== VALUE) continue;
      if (field.oneof !== undefined && field.oneof === oneof) return false;
      oneof = field.oneof ?? oneof;
      if (!write(writer, value, depthLeft - 1)) return false;
    }
    return left === 0;
  };
}

function fieldWriter(field: DescField): WriteJson {
  if (field.fieldKind === 'list') return listWriter(field);
  if (field.fieldKind === 'map') return mapWriter(field);
  const tag = tagOf(field.number, field.fieldKind === 'message' || isText(field.scalar) ? WireType.LengthDelimited : WireType.Varint);
  if (field.fieldKind === 'message') return delimited(tag, writerOf(field.message));
  const skipsZero = field.presence === IMPLICIT_PRESENCE;
  return field.fieldKind === 'enum' ? enumWriter(tag, field.enum, skipsZero) : scalarWriter(tag, field.scalar, skipsZero);
}

function listWriter(field: DescField & { fieldKind: 'list' }): WriteJson {
  const tag = tagOf(field.number, WireType.LengthDelimited);
  const write = field.listKind === 'message' ? delimited(tag, writerOf(field.message)) : undefined;
  const each = write ?? (field.listKind === 'scalar' && isText(field.scalar) ? scalarWriter(tag, field.scalar, false) : undefined);
  return (writer, json, depthLeft) =>
    each !== undefined && Array.isArray(json) && json.every((item: Json) => item !== null && each(writer, item, depthLeft));
}

function mapWriter(field: DescField & { fieldKind: 'map' }): WriteJson {
  const tag = tagOf(field.number, WireType.LengthDelimited);
  const [keyTag, valueTag] = [tagOf(1, WireType.LengthDelimited), tagOf(2, WireType.LengthDelimited)];
  const value = field.mapKind === 'message' ? delimited(valueTag, writerOf(field.message)) : undefined;
  const each = value ?? (field.mapKind === 'scalar' && isText(field.scalar) ? scalarWriter(valueTag, field.scalar, false) : undefined);
  if (field.mapKey !== ScalarType.STRING || each === undefined) return () => false;
  return delimitedEntries(tag, keyTag, each);
}

function delimitedEntries(tag: number, keyTag: number, each: WriteJson): WriteJson {
  return (writer, json, depthLeft) => {
    if (!isObject(json)) return false;
    for (const [key, value] of Object.entries(json)) {
      writer.uint32(tag).fork().uint32(keyTag).string(key);
      if (!each(writer, value as Json, depthLeft)) return false;
      writer.join();
    }
    return true;
  };
}

function delimited(tag: number, write: WriteJson): WriteJson {
  return (writer, json, depthLeft) => {
    writer.uint32(tag).fork();
    if (!write(writer, json, depthLeft)) return false;
    writer.join();
    return true;
  };
}

const isText = (scalar: ScalarType | undefined): boolean => scalar === ScalarType.STRING || scalar === ScalarType.BYTES;
const tagOf = (number: number, type: WireType): number => ((number << 3) | type) >>> 0;

function scalarWriter(tag: number, scalar: ScalarType, skipsZero: boolean): WriteJson {
  switch (scalar) {
    case ScalarType.STRING:
      return (writer, json) => {
        if (typeof json !== 'string') return false;
        if (!skipsZero || json !== '') writer.uint32(tag).string(json);
        return true;
      };
    case ScalarType.BYTES:
      return (writer, json) => {
        const bytes = typeof json === 'string' ? decoded(json) : undefined;
        if (bytes === undefined) return false;
        if (!skipsZero || bytes.length > 0) writer.uint32(tag).bytes(bytes);
        return true;
      };
    case ScalarType.BOOL:
      return (writer, json) => {
        if (typeof json !== 'boolean') return false;
        if (!skipsZero || json) writer.uint32(tag).bool(json);
        return true;
      };
    case ScalarType.INT32:
      return (writer, json) => {
        if (typeof json !== 'number' || (json | 0) !== json) return false;
        if (!skipsZero || json !== 0) writer.uint32(tag).int32(json);
        return true;
      };
    default:
      return () => false;
  }
}

function decoded(base64: string): Uint8Array | undefined {
  try {
    return base64Decode(base64);
  } catch {
    return undefined;
  }
}

function enumWriter(tag: number, { values }: DescEnum, skipsZero: boolean): WriteJson {
  const numbers = new Map(values.map(({ name, number }) => [name, number]));
  return (writer, json) => {
    const number = typeof json === 'string' ? numbers.get(json) : undefined;
    if (number === undefined) return false;
    if (!skipsZero || number !== values[0]?.number) writer.uint32(tag).int32(number);
    return true;
  };
}

const VALUE = 'google.protobuf.Value';
const STRUCT_FIELDS = tagOf(1, WireType.LengthDelimited);
const LIST_VALUES = tagOf(1, WireType.LengthDelimited);

/** `google.protobuf.Value`: any JSON. The numbers are those of its fields. */
const writeValue: WriteJson = (writer, json, depthLeft) => {
  if (depthLeft <= 0) return false;
  if (json === null) writer.uint32(tagOf(1, WireType.Varint)).int32(0);
  else if (typeof json === 'number') writer.uint32(tagOf(2, WireType.Bit64)).double(json);
  else if (typeof json === 'string') writer.uint32(tagOf(3, WireType.LengthDelimited)).string(json);
  else if (typeof json === 'boolean') writer.uint32(tagOf(4, WireType.Varint)).bool(json);
  else if (Array.isArray(json)) return writeListField(writer, json, depthLeft - 1);
  else return writeStructField(writer, json, depthLeft - 1);
  return true;
};

const writeStruct: WriteJson = (writer, json, depthLeft) => depthLeft > 0 && writeEntries(writer, json, depthLeft - 1);
const writeEntries = delimitedEntries(
  STRUCT_FIELDS,
  tagOf(1, WireType.LengthDelimited),
  delimited(tagOf(2, WireType.LengthDelimited), writeValue),
);
const writeStructField = delimited(tagOf(5, WireType.LengthDelimited), writeStruct);

const writeItem = delimited(LIST_VALUES, writeValue);
const writeList: WriteJson = (writer, json, depthLeft) =>
  depthLeft > 0 && Array.isArray(json) && json.every((item: Json) => writeItem(writer, item, depthLeft - 1));
const writeListField = delimited(tagOf(6, WireType.LengthDelimited), writeList);

/** A time as we write it. The library reads all other forms. */
const OWN_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const writeTimestamp: WriteJson = (writer, json) => {
  const ms = typeof json === 'string' && OWN_TIME.test(json) ? Date.parse(json) : Number.NaN;
  if (Number.isNaN(ms)) return false;
  const seconds = Math.floor(ms / 1000);
  const nanos = (ms - seconds * 1000) * 1_000_000;
  if (seconds !== 0) writer.uint32(tagOf(1, WireType.Varint)).int64(seconds);
  if (nanos !== 0) writer.uint32(tagOf(2, WireType.Varint)).int32(nanos);
  return true;
};

/** Messages whose JSON has a form of its own. */
const WELL_KNOWN: Readonly<Record<string, WriteJson>> = {
  [VALUE]: writeValue,
  'google.protobuf.Struct': writeStruct,
  'google.protobuf.ListValue': writeList,
  'google.protobuf.Timestamp': writeTimestamp,
};
