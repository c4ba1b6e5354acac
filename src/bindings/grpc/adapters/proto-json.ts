import type { JsonValue } from '@bufbuild/protobuf';
import type { Json } from '#protocol';

/** Our JSON as the library types it. It only reads the value, but its type is not readonly. */
export function protoJson(json: Json): JsonValue {
  return json as JsonValue;
}
