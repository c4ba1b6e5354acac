import type { HttpRequest } from '#bindings';
import { isConnectType, isGrpcType } from '#bindings';
import { A2AError } from '#protocol';
import { refusal } from '../../routes/responses.ts';
import type { Route } from '../../routes/routes.ts';
import type { AccessRefusal } from '../refusal.ts';
import { errorResponseFor } from '../refusal.ts';

/**
 * `application/json` or `application/…+json`. A browser sends neither to another origin without a CORS
 * preflight.
 */
const JSON_TYPES = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Refuses bodies that are compressed or not JSON, before they are read. A compressed body can grow a
 * thousandfold when it is decompressed (docs/faults.md, H10 and H11).
 */
export function refuseContent(request: HttpRequest, route: Route): AccessRefusal | undefined {
  if (route.name === 'grpc' || route.name === 'grpc-operators') return refuseMessages(request);
  const encoding = request.header('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    return refusal(415, 'send the body uncompressed', { 'Accept-Encoding': 'identity' });
  if (request.method !== 'POST') return undefined;
  const type = request.header('content-type');
  const isJson = type !== undefined && JSON_TYPES.test(type);
  // HTTP+JSON and the admin API have POST calls without a body, which need no Content-Type.
  const isBodyOptional = route.name === 'admin' || route.bodyOptional === true || route.binding?.route.bodyOptional === true;
  const isEmpty = isBodyOptional && type === undefined && !hasBody(request);
  if (isJson || isEmpty) return undefined;
  const message = 'Content-Type must be application/json';
  if (route.binding === undefined) return refusal(415, message);
  return errorResponseFor(request, route, new A2AError('CONTENT_TYPE_NOT_SUPPORTED', message), 415);
}

/** Messages may be compressed: their size is limited after they are decompressed. A browser sends none of these types without a preflight. */
function refuseMessages(request: HttpRequest): AccessRefusal | undefined {
  const type = request.header('content-type');
  return isGrpcType(type) || isConnectType(type) ? undefined : refusal(415, 'Content-Type must be one of gRPC, gRPC-Web or Connect');
}

function hasBody(request: HttpRequest): boolean {
  return Number(request.header('content-length') ?? 0) > 0 || request.header('transfer-encoding') !== undefined;
}
