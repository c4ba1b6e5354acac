import { createRegistry, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import type { Any } from '@bufbuild/protobuf/wkt';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import type { Dialect, ErrorKind, Json } from '#protocol';
import { A2AError, ERRORS, isKeyOf, isObject, keysOf } from '#protocol';
import { TimedOut } from '../../failures.ts';
import { dialectNamed } from '../dialect-named.ts';
import type { GrpcStatus } from '../wire.ts';
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema, StatusSchema } from './generated/google_rpc_pb.ts';
import { protoJson } from './proto-json.ts';

const details = createRegistry(ErrorInfoSchema, BadRequestSchema, RetryInfoSchema);
/** 1.0 writes the same details into JSON-RPC errors: `ErrorInfo` with the domain `a2a-protocol.org`, `BadRequest`, `RetryInfo`. */
const { error: jsonErrors } = dialectNamed('v10');

/** The status of an error (A2A 1.0.1 §5.4 and §10.6). Details that can't be written are left out. */
export function statusOf(error: A2AError): GrpcStatus {
  const code = ERRORS[error.kind].grpc;
  const { message } = error;
  try {
    const json: Json = { code, message, details: jsonErrors.write(error).data ?? [] };
    return { code, message, details: toBinary(StatusSchema, fromJson(StatusSchema, protoJson(json), { registry: details })) };
  } catch {
    return { code, message };
  }
}

/** Of kinds with the same code, the one that a bare status most likely means. */
const KIND_OF_CODE: Readonly<Record<number, ErrorKind>> = {
  1: 'UNAVAILABLE',
  2: 'INTERNAL_ERROR',
  3: 'INVALID_PARAMS',
  4: 'UNAVAILABLE',
  5: 'TASK_NOT_FOUND',
  6: 'INVALID_PARAMS',
  7: 'PERMISSION_DENIED',
  8: 'RATE_LIMITED',
  9: 'UNSUPPORTED_OPERATION',
  10: 'TASK_GENERATION_MISMATCH',
  11: 'INVALID_PARAMS',
  12: 'METHOD_NOT_FOUND',
  13: 'INTERNAL_ERROR',
  14: 'UNAVAILABLE',
  15: 'INTERNAL_ERROR',
  16: 'UNAUTHENTICATED',
};

const DEADLINE_EXCEEDED = 4;
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';

/**
 * The error of a status that is not 0: by its `ErrorInfo`, else by its message, else by its code. `read`
 * reads an error of JSON-RPC: that of the caller's dialect.
 */
export function errorOfStatus({ code, message, details: bytes }: GrpcStatus, read: Dialect['error']['read'] = jsonErrors.read): A2AError {
  const found = bytes === undefined ? [] : detailsIn(bytes);
  const words = message === '' ? {} : { message };
  const error = read({ code, ...words, data: found.some(hasKind) ? found : [infoOf(code, message), ...found] });
  return code === DEADLINE_EXCEEDED ? new A2AError(error.kind, error.message, { ...error.details, cause: new TimedOut() }) : error;
}

/** An `ErrorInfo` for a status that has none. */
function infoOf(code: number, message: string): Json {
  return { '@type': ERROR_INFO, reason: kindInMessage(message) ?? KIND_OF_CODE[code] ?? 'INTERNAL_ERROR' };
}

function hasKind(detail: Json): boolean {
  return isObject(detail) && detail['@type'] === ERROR_INFO && typeof detail['reason'] === 'string' && isKeyOf(ERRORS, detail['reason']);
}

/** The details that we know, as JSON. */
function detailsIn(bytes: Uint8Array): readonly Json[] {
  try {
    return fromBinary(StatusSchema, bytes).details.flatMap(detailJson);
  } catch {
    return [];
  }
}

function detailJson(detail: Any): readonly Json[] {
  try {
    return [toJson(AnySchema, detail, { registry: details })];
  } catch {
    return []; // another program's detail
  }
}

/**
 * The official Python SDK for 0.3 starts its messages with the name of its error class, and sends no
 * details: `TaskNotCancelableError: …`, with the status UNIMPLEMENTED.
 */
function kindInMessage(message: string): ErrorKind | undefined {
  const name = /^(\w{1,60})Error: /.exec(message)?.[1];
  return name === undefined ? undefined : CLASS_NAMES.get(name);
}

const CLASS_NAMES: ReadonlyMap<string, ErrorKind> = new Map(
  keysOf(ERRORS).map((kind) => [
    kind
      .replace(/_?ERROR$/, '')
      .toLowerCase()
      .replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase()),
    kind,
  ]),
);
