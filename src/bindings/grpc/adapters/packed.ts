import type { DescMessage, Message as ProtoMessage } from '@bufbuild/protobuf';
import { create } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';

/** From this field number on, a tag is two bytes. A2A has no number above 2047, from which it would be three. */
const TWO_BYTE_TAG = 16;

/**
 * A message that the library writes as these bytes, instead of encoding its fields, which costs more than our own writer. To the library
 * the bytes are a field that it does not know. In JSON such a message is empty.
 */
export function packed(schema: DescMessage, bytes: Uint8Array): ProtoMessage {
  const message: ProtoMessage = create(schema);
  if (bytes.length === 0) return message;
  const reader = new BinaryReader(bytes);
  const [no, wireType] = reader.tag();
  // What follows the first tag is written behind it: the value, and all other fields.
  message.$unknown = [{ no, wireType, data: bytes.subarray(reader.pos) }];
  return message;
}

/** The size of a packed message as bytes. */
export function packedLength({ $unknown }: ProtoMessage): number {
  let length = 0;
  for (const { no, data } of $unknown ?? []) length += data.length + (no < TWO_BYTE_TAG ? 1 : 2);
  return length;
}
