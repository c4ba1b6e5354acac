import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { A2AError, DEFAULT_READ_LIMITS } from '#protocol';
import { parseJson } from '../../body.ts';
import type { HttpRequest } from '../../http.ts';
import { FRAME_HEAD_BYTES } from '../framing.ts';
import { RECURSION_LIMIT } from './codec.ts';

/** A member takes at least this many bytes: its tag and its length. */
const MEMBER_BYTES = 2;

/**
 * Throws INVALID_REQUEST if a message has too many members: messages inside of it, entries of maps, and
 * elements of lists. Each value of free JSON is a message. Otherwise a request of 1 MiB could make half
 * a million objects before any other limit applies.
 */
export function checkMembers(schema: DescMessage, bytes: Uint8Array, membersMax: number): void {
  if (bytes.length <= membersMax * MEMBER_BYTES) return;
  const counter = { reader: new BinaryReader(bytes), left: membersMax };
  try {
    count(counter, schema, { end: bytes.length, depth: 0 });
  } catch {
    return; // malformed: the parser says why
  }
  if (counter.left < 0) throw tooMany(membersMax);
}

function tooMany(membersMax: number): A2AError {
  return new A2AError('INVALID_REQUEST', `more than ${membersMax} members in one request`);
}

interface Counter {
  readonly reader: BinaryReader;
  /** How many more members are allowed. Negative: too many. */
  left: number;
}

function count(counter: Counter, schema: DescMessage, { end, depth }: { readonly end: number; readonly depth: number }): void {
  const { reader } = counter;
  const fields = fieldsOf(schema);
  while (reader.pos < end && counter.left >= 0) {
    const [number, wireType] = reader.tag();
    const field = fields.get(number);
    if (field?.fieldKind === 'list' || field?.fieldKind === 'map' || field?.fieldKind === 'message') counter.left -= 1;
    const inner = field === undefined ? undefined : messageOf(field);
    if (inner === undefined || wireType !== WireType.LengthDelimited || depth > RECURSION_LIMIT) reader.skip(wireType, number);
    else {
      const length = reader.uint32();
      if (field?.fieldKind === 'map') countEntry(counter, inner, { end: reader.pos + length, depth });
      else count(counter, inner, { end: reader.pos + length, depth: depth + 1 });
    }
  }
}

/** An entry of a map: the key is its field 1, the value its field 2. */
function countEntry(counter: Counter, value: DescMessage, { end, depth }: { readonly end: number; readonly depth: number }): void {
  const { reader } = counter;
  while (reader.pos < end && counter.left >= 0) {
    const [number, wireType] = reader.tag();
    if (number !== 2 || wireType !== WireType.LengthDelimited) reader.skip(wireType, number);
    else {
      const length = reader.uint32();
      count(counter, value, { end: reader.pos + length, depth: depth + 1 });
    }
  }
}

/** The message that a field, an element of a list or a value of a map is. */
function messageOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === 'message' || field.fieldKind === 'list' || field.fieldKind === 'map' ? field.message : undefined;
}

const known = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(schema: DescMessage): ReadonlyMap<number, DescField> {
  const found = known.get(schema) ?? new Map(schema.fields.map((field) => [field.number, field]));
  known.set(schema, found);
  return found;
}

const ENCODINGS = ['content-encoding', 'grpc-encoding', 'connect-content-encoding'];

/** Whether the message of a request may be compressed, so that its body does not show its members. */
export function isCompressed(request: HttpRequest): boolean {
  return ENCODINGS.some((name) => !['', 'identity'].includes(request.header(name) ?? ''));
}

/** Whether the message of a request has a frame around it. A single message of Connect has none. */
export function isFramed(request: HttpRequest): boolean {
  return !/^application\/(?:proto|json)\b/i.test(request.header('content-type') ?? '');
}

/** The same check for a body in the protocols that Connect handles: with and without frames, protobuf and JSON. */
export function checkConnectBody(schema: DescMessage, request: HttpRequest, { body, membersMax }: ConnectBody): void {
  if (body.length <= membersMax || isCompressed(request)) return;
  const type = request.header('content-type') ?? '';
  const message = isFramed(request) ? body.subarray(FRAME_HEAD_BYTES) : body;
  if (/json/i.test(type)) {
    const parsed = parseJson(message, DEFAULT_READ_LIMITS.jsonDepthMax, membersMax);
    if (!parsed.ok) throw parsed.error;
  } else checkMembers(schema, message, membersMax);
}

/** A body, and how many members its message may have. */
export interface ConnectBody {
  readonly body: Uint8Array;
  readonly membersMax: number;
}
