import type { DescMessage, DescMethod, DescService, Message as ProtoMessage } from '@bufbuild/protobuf';
import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import type { Dialect, Json, Logged, Operation, ReadEnv, Requests, Results, TaskEvent, UnaryOperation } from '#protocol';
import { A2AError, DEFAULT_READ_LIMITS, isA2AError, isObject, isStreamOperation, OPERATION_NAMES } from '#protocol';
import { decodeRequest, decodeResult, encodeRequest, encodeResult, unreadable, unsupported } from '../../codec.ts';
import type { GrpcMethods } from '../dialects.ts';
import { numbered, unnumbered } from '../seq.ts';
import { bytesOfJson } from './json-writer.ts';
import { packed } from './packed.ts';
import { protoJson } from './proto-json.ts';

/**
 * What differs between the versions of A2A over gRPC. A dialect's ProtoJSON is the JSON of its
 * messages, so a version is its service and the few shapes in which the two differ.
 */
export interface ProtoForm {
  /** Whose JSON is the ProtoJSON of this version. */
  readonly dialect: Dialect;
  readonly service: DescService;
  /** The name of each operation's method. Absent: the version does not have the operation. */
  readonly methods: GrpcMethods;
  /** Changes a request from the dialect's JSON to that of the message. */
  request?(operation: Operation, json: Json): Json;
  /** Changes a request from the JSON of the message to the dialect's. */
  received?(operation: Operation, json: unknown): unknown;
  /** Changes a result from the dialect's JSON to that of the message. */
  result?(operation: UnaryOperation, json: Json): Json;
  /** The JSON of an event. Default: the dialect's. */
  event?(logged: Logged, json: Json): Json;
}

/**
 * Converts between the canonical model and the protobuf messages of one version, both as bytes and as
 * messages. The functions that read throw `INVALID_REQUEST` or `INVALID_PARAMS` for a bad request, and
 * `INVALID_AGENT_RESPONSE` for a bad response.
 */
export interface ProtoCodec {
  readonly dialect: Dialect;
  readonly service: DescService;
  /** The method of an operation. Undefined: the version does not have the operation. */
  methodOf(operation: Operation): DescMethod | undefined;
  /** The operation of a method, by its name in the proto file. */
  operationOf(method: string): Operation | undefined;
  /** Reads a request from bytes. */
  decodeRequest<Op extends Operation>(operation: Op, bytes: Uint8Array, env: ReadEnv): Requests[Op];
  /** Reads a request from a message that was parsed already. */
  readRequest<Op extends Operation>(operation: Op, message: ProtoMessage, env: ReadEnv): Requests[Op];
  encodeRequest<Op extends Operation>(operation: Op, request: Requests[Op]): Uint8Array;
  encodeResult<Op extends UnaryOperation>(operation: Op, result: Results[Op]): Uint8Array;
  /** A result as a message. */
  writeResult<Op extends UnaryOperation>(operation: Op, result: Results[Op]): ProtoMessage;
  /** The same as a message that can be written as protobuf only, which costs less. */
  packResult<Op extends UnaryOperation>(operation: Op, result: Results[Op]): ProtoMessage;
  decodeResult<Op extends UnaryOperation>(operation: Op, bytes: Uint8Array, env: ReadEnv): Results[Op];
  /** `withSeq`: the caller named `SEQ_EXTENSION`. */
  encodeEvent(logged: Logged, withSeq: boolean): Uint8Array;
  /** An event as a message. */
  writeEvent(logged: Logged, withSeq: boolean): ProtoMessage;
  /** The same as a message that can be written as protobuf only, which costs less. */
  packEvent(logged: Logged, withSeq: boolean): ProtoMessage;
  /** Reads an event. Takes a sequence number out of its metadata. */
  decodeEvent(bytes: Uint8Array, env: ReadEnv): Logged;
  /** A message of an operation as JSON, for people. Bytes that can't be read are described. */
  show(operation: Operation, which: 'input' | 'output', message: Uint8Array | ProtoMessage): unknown;
}

/**
 * A level of free-form JSON is two messages (`Value` and `Struct` or `ListValue`), and a map entry is a
 * third. The messages around it are fewer than 16. Our own limit of JSON depth applies after that.
 */
export const RECURSION_LIMIT: number = DEFAULT_READ_LIMITS.jsonDepthMax * 3 + 16;
/** How messages are read from bytes. */
export const READ_BYTES: { readonly readUnknownFields: false; readonly recursionLimit: number } = {
  readUnknownFields: false,
  recursionLimit: RECURSION_LIMIT,
};
/** How messages are read from JSON. */
export const READ_JSON: { readonly ignoreUnknownFields: true; readonly recursionLimit: number } = {
  ignoreUnknownFields: true,
  recursionLimit: RECURSION_LIMIT,
};

type Reading = { readonly schema: DescMessage; readonly error: (problem: string, cause: unknown) => A2AError };

/** The codec of one version. */
export function protoCodec(form: ProtoForm): ProtoCodec {
  const { dialect, service } = form;
  const methods = new Map<Operation, DescMethod>();
  const operations = new Map<string, Operation>();
  for (const operation of OPERATION_NAMES) {
    const name = form.methods[operation];
    const method = service.methods.find((each) => each.name === name);
    if (name === undefined || method === undefined) continue;
    methods.set(operation, method);
    operations.set(name, operation);
  }
  const has = (operation: Operation): DescMethod => {
    const method = methods.get(operation);
    if (method === undefined) throw unsupported(operation, { title: service.typeName });
    return method;
  };
  const streamed = [...methods].find(([operation]) => isStreamOperation(operation))?.[1].output;
  if (streamed === undefined) throw new Error(`${service.typeName} has no stream`);
  const eventJson = (logged: Logged, withSeq: boolean): Json => {
    const json = dialect.encode('event', withSeq ? numbered(logged) : logged.event);
    return form.event?.(logged, json) ?? json;
  };
  const requestJson = (operation: Operation, json: Json): Json => form.request?.(operation, json) ?? json;
  const resultJson = <Op extends UnaryOperation>(operation: Op, result: Results[Op]): Json => {
    const json = encodeResult(operation, result, dialect) ?? {};
    return form.result?.(operation, json) ?? json;
  };
  const readRequest: ProtoCodec['readRequest'] = (operation, message, env) => {
    const json = jsonOf(message, { schema: has(operation).input, error: badRequest });
    return decodeRequest(operation, form.received?.(operation, json) ?? json, { dialect, env });
  };
  return {
    dialect,
    service,
    methodOf: (operation) => methods.get(operation),
    operationOf: (method) => operations.get(method),
    decodeRequest: (operation, bytes, env) =>
      readRequest(operation, messageOf(bytes, { schema: has(operation).input, error: badRequest }), env),
    readRequest,
    encodeRequest: (operation, request) => {
      const { input } = has(operation);
      return bytesOf(input, requestJson(operation, encodeRequest(operation, request, dialect).params));
    },
    encodeResult: (operation, result) => bytesOf(has(operation).output, resultJson(operation, result)),
    writeResult: (operation, result) => written(has(operation).output, resultJson(operation, result)),
    packResult: (operation, result) => packed(has(operation).output, bytesOf(has(operation).output, resultJson(operation, result))),
    decodeResult: (operation, bytes, env) => {
      const reading = { schema: has(operation).output, error: badResponse };
      return decodeResult(operation, jsonOf(messageOf(bytes, reading), reading), { dialect, env });
    },
    encodeEvent: (logged, withSeq) => bytesOf(streamed, eventJson(logged, withSeq)),
    writeEvent: (logged, withSeq) => written(streamed, eventJson(logged, withSeq)),
    packEvent: (logged, withSeq) => packed(streamed, bytesOf(streamed, eventJson(logged, withSeq))),
    decodeEvent: (bytes, env) => {
      const reading = { schema: streamed, error: badResponse };
      const decoded = dialect.decode('event', jsonOf(messageOf(bytes, reading), reading), env);
      if (!decoded.ok) throw unreadable(decoded);
      return unnumbered(decoded.value satisfies TaskEvent);
    },
    show: (operation, which, message) => shown(has(operation)[which], message),
  };
}

function messageOf(bytes: Uint8Array, { schema, error }: Reading): ProtoMessage {
  try {
    return fromBinary(schema, bytes, READ_BYTES);
  } catch (cause) {
    throw error(`is not a valid ${schema.name}`, cause);
  }
}

function shown(schema: DescMessage, message: Uint8Array | ProtoMessage): unknown {
  try {
    // Through bytes, because a packed message shows its fields only there.
    return toJson(schema, fromBinary(schema, message instanceof Uint8Array ? message : toBinary(schema, message), READ_BYTES));
  } catch {
    return message instanceof Uint8Array
      ? `${message.length} bytes that are not a ${schema.name}`
      : `a ${schema.name} that JSON can’t express`;
  }
}

/** `toJson` throws for values that JSON can't express: NaN, a `Value` without a kind, a year after 9999. */
function jsonOf(message: ProtoMessage, { schema, error }: Reading): unknown {
  try {
    return toJson(schema, message);
  } catch (cause) {
    throw error(`has a value in ${schema.name} that A2A can’t express`, cause);
  }
}

function bytesOf(schema: DescMessage, json: Json): Uint8Array {
  return bytesOfJson(schema, json, RECURSION_LIMIT) ?? toBinary(schema, written(schema, json));
}

/** Our own values fit the messages, except for what JSON allows and protobuf does not: lone surrogates, and depth. */
function written(schema: DescMessage, json: Json): ProtoMessage {
  try {
    return fromJson(schema, protoJson(json), READ_JSON);
  } catch {
    return writtenWellFormed(schema, json);
  }
}

function writtenWellFormed(schema: DescMessage, json: Json): ProtoMessage {
  try {
    return fromJson(schema, protoJson(wellFormed(json)), READ_JSON);
  } catch (cause) {
    if (isA2AError(cause)) throw cause;
    throw new A2AError('INTERNAL_ERROR', `this ${schema.name} can’t be written in protobuf`, { cause });
  }
}

/** The same value with U+FFFD in place of each lone surrogate, as UTF-8 encoders do. */
function wellFormed(json: Json): Json {
  return JSON.parse(JSON.stringify(json), (_, value: Json) => {
    if (typeof value === 'string') return value.toWellFormed();
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name.toWellFormed(), each]));
  }) as Json;
}

function badRequest(problem: string, cause: unknown): A2AError {
  return new A2AError('INVALID_REQUEST', `the request ${problem}`, { cause });
}

function badResponse(problem: string, cause: unknown): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `the response ${problem}`, { cause });
}
