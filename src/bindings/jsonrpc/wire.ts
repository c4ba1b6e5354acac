import type { EnvelopeRules, Json, RawObject, RpcId, WireError } from '#protocol';
import { A2AError, isObject } from '#protocol';

/**
 * A JSON-RPC 2.0 request, as A2A uses it.
 *
 * - `id` is a string, a number or null and is returned unchanged: `0`, `"0"` and `""` are valid ids. A
 *   number that JavaScript can't represent exactly is rejected, because another number would be
 *   returned.
 * - A request without `id` (a notification) is rejected with -32600 and not executed, because every A2A
 *   operation has a result that would be lost. JSON-RPC would execute it without a response, the SDKs
 *   execute it and answer with id null, and A2A leaves it open. In a dialect with `idOptional` it is
 *   executed and answered with id null.
 * - A batch is rejected with -32600, and none of it is executed (docs/faults.md, I4).
 */
export interface RpcRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
}

/** The id for the response, even if the rest of the envelope is invalid. */
export function readableId(raw: unknown): RpcId {
  const id = isObject(raw) ? raw['id'] : undefined;
  return isId(id) ? id : null;
}

function isId(id: unknown): id is RpcId {
  if (typeof id === 'number') return Number.isFinite(id) && (!Number.isInteger(id) || Number.isSafeInteger(id));
  return typeof id === 'string' || id === null;
}

/** Checks that the body is one object and not a batch, before a dialect is chosen. */
export function requestObject(raw: unknown): RawObject {
  if (isObject(raw)) return raw;
  throw new A2AError('INVALID_REQUEST', Array.isArray(raw) ? 'batch requests are not supported' : 'must be an object');
}

/** Checks the envelope. Throws INVALID_REQUEST or INVALID_PARAMS with the wrong member in `field`. */
export function readEnvelope(raw: RawObject, rules: EnvelopeRules): RpcRequest {
  const { jsonrpc, method, params, id } = raw;
  if (jsonrpc !== '2.0' && !(jsonrpc === undefined && rules.versionOptional === true)) {
    throw new A2AError('INVALID_REQUEST', 'jsonrpc must be "2.0"', { field: 'jsonrpc' });
  }
  if (typeof method !== 'string' || method === '') throw new A2AError('INVALID_REQUEST', 'method is required', { field: 'method' });
  if (id === undefined ? rules.idOptional !== true : id === null && rules.idNotNull === true) {
    throw new A2AError('INVALID_REQUEST', 'id is required', { field: 'id' });
  }
  if (id !== undefined && !isId(id)) {
    throw new A2AError('INVALID_REQUEST', 'id must be a string, null or a number that is exact in JavaScript', { field: 'id' });
  }
  if (params !== undefined && params !== null && !isObject(params)) throw new A2AError('INVALID_PARAMS', 'params must be an object');
  return { id: id ?? null, method, params };
}

/** A JSON-RPC request. */
export function requestText(id: RpcId, method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** A JSON-RPC response with a result. */
export function resultText(id: RpcId, result: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

/** A JSON-RPC response with an error. */
export function errorText(id: RpcId, error: WireError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

/**
 * A parsed response: a result, an error, or something that is not JSON-RPC. The result may be absent,
 * because a2a-go leaves out an empty one.
 */
export type RpcAnswer =
  | { readonly kind: 'result'; readonly id: unknown; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'other' };

/** Classifies a response. A body with both `error` and `result` counts as an error. */
export function readAnswer(raw: unknown): RpcAnswer {
  if (!isObject(raw)) return { kind: 'other' };
  if (isObject(raw['error'])) return { kind: 'error', error: raw['error'] };
  if ('result' in raw || raw['jsonrpc'] === '2.0') return { kind: 'result', id: raw['id'], result: raw['result'] };
  return { kind: 'other' };
}
