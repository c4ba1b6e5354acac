import type { Decoded, Dialect, Json, Operation, ReadEnv, Requests, Results, RpcId, Shape, Shapes, UnaryOperation } from '#protocol';
import { A2AError, invalidParams, OPERATION_NAMES } from '#protocol';

/** What reading JSON in a dialect takes. */
export interface Reading {
  readonly dialect: Dialect;
  readonly env: ReadEnv;
}

// Shape names are built once. A string built for each call would have to be hashed for the look-up.
const shapes = (suffix: string): Record<Operation, Shape> =>
  Object.fromEntries(OPERATION_NAMES.map((operation) => [operation, `${operation}.${suffix}`])) as Record<Operation, Shape>;
const REQUEST_SHAPES = shapes('request');
const RESULT_SHAPES = shapes('result');

/**
 * Reads a request. Throws METHOD_NOT_FOUND if the dialect does not have the operation, INVALID_PARAMS
 * if the JSON is wrong.
 */
export function decodeRequest<Op extends Operation>(operation: Op, raw: unknown, { dialect, env }: Reading): Requests[Op] {
  const decoded = dialect.decode(REQUEST_SHAPES[operation], raw, env) as Decoded<Requests[Op]>;
  if (decoded.ok) return decoded.value;
  if (decoded.reason === 'not-in-dialect') throw new A2AError('METHOD_NOT_FOUND', `${dialect.title} has no ${operation}`);
  throw invalidParams(decoded);
}

/** A request in a dialect, before it is put into an envelope. */
export interface EncodedRequest {
  readonly params: Json;
  /** The JSON-RPC id that the dialect demands for this request. Undefined: any id will do. */
  readonly rpcId: RpcId | undefined;
}

/** Writes a request in the peer's dialect. */
export function encodeRequest<Op extends Operation>(operation: Op, request: Requests[Op], dialect: Dialect): EncodedRequest {
  const shape: Shape = REQUEST_SHAPES[operation];
  const value: Shapes[Shape] = request;
  return { params: dialect.encode(shape, value), rpcId: dialect.rpcId?.(shape, value) };
}

/** Writes a result in the caller's dialect. */
export function encodeResult<Op extends UnaryOperation>(operation: Op, result: Results[Op], dialect: Dialect): Json {
  const shape: Shape = RESULT_SHAPES[operation];
  const value: Shapes[Shape] = result;
  return dialect.encode(shape, value);
}

/** Reads a result in the peer's dialect. */
export function decodeResult<Op extends UnaryOperation>(operation: Op, raw: unknown, { dialect, env }: Reading): Results[Op] {
  const isNothing = raw === null || raw === undefined;
  if (isNothing && dialect.wire.nullForUnknownTask === true && (operation === 'get' || operation === 'cancel')) {
    throw new A2AError('TASK_NOT_FOUND');
  }
  const decoded = dialect.decode(RESULT_SHAPES[operation], raw, env) as Decoded<Results[Op]>;
  if (decoded.ok) return decoded.value;
  throw unreadable(decoded);
}

/** The error for a response that the dialect can't read. */
export function unreadable(decoded: Exclude<Decoded<unknown>, { ok: true }>): A2AError {
  if (decoded.reason === 'not-in-dialect') return new A2AError('INVALID_AGENT_RESPONSE', 'the dialect has no such response');
  const where = decoded.path === '' ? 'it' : decoded.path;
  return new A2AError('INVALID_AGENT_RESPONSE', `the response can't be read: ${where} ${decoded.problem}`);
}

/** The error for an operation that a dialect, or its form in a binding, does not have. */
export function unsupported(operation: Operation, { title }: Pick<Dialect, 'title'>): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', `${title} has no ${operation}`);
}
