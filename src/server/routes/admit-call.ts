import type { AdmittedCall, CallTarget, HttpRequest, HttpResponse } from '#bindings';
import { AGENT_METADATA } from '#bindings';
import type { ErrorKind } from '#protocol';
import { A2AError, countedIds, GRPC_STATUS, tenantId } from '#protocol';
import type { Access, AccessDecision } from '../access/access.ts';
import type { AuthenticatedCaller } from '../access/authentication/caller.ts';
import { callerKey, isLocal } from '../access/authentication/caller.ts';
import { requestIdOf } from '../access/request-id.ts';
import type { ServedAgent } from '../agents/served-agent.ts';
import type { ServedNode } from '../assemble.ts';
import { requestFields } from '../observability/log-fields.ts';
import type { Counter } from '../observability/metrics.ts';
import type { FoundRoute } from './find-route.ts';
import { findRoute } from './find-route.ts';
import { optionsFor } from './route-handlers.ts';

/** What the admission of calls needs of a node. */
export interface AdmissionOptions {
  readonly access: Access;
  readonly node: ServedNode;
  /** Counts requests by route and status. */
  readonly requests: Counter;
}

/**
 * The access checks for calls over gRPC: the same as for HTTP, on the metadata of the call. A refusal
 * becomes an error, because gRPC has a format of its own for it.
 */
export function createAdmission({
  access,
  node,
  requests,
}: AdmissionOptions): (request: HttpRequest) => AdmittedCall | Promise<AdmittedCall> {
  const env = { ids: countedIds(), limits: node.limits };
  const admitted = (request: HttpRequest, found: FoundRoute, { response, route, caller }: AccessDecision): AdmittedCall => {
    if (response !== undefined) {
      requests.add([route?.name ?? 'none', String(response.status)]);
      throw errorOfRefusal(response, requestIdOf(request));
    }
    if (route === undefined || caller === undefined || found.agent === undefined) {
      requests.add(['none', '404']);
      throw new A2AError('METHOD_NOT_FOUND', `nothing is served at ${request.path.slice(0, 100)}`);
    }
    return {
      caller,
      env,
      onError: (cause) => node.log.error('a call over gRPC failed', cause, requestFields(request, { caller, agent: found.agent?.name })),
      callerKey: isLocal(caller) ? undefined : callerKey(caller),
      httpRequest: access.countBody(caller, request, route),
      headers: access.corsHeaders(request) ?? {},
      target: (tenant) => targetOf(node, { request, found, caller, tenant }),
      track: (stream) => node.openStreams.track(stream, caller.isStillValid),
      ended: (status) => requests.add([route.name, `grpc ${status === 0 ? 'OK' : (GRPC_STATUS[status] ?? STATUS[status] ?? status)}`]),
    };
  };
  return (request) => {
    const found = findRoute(request, node.routing.agents);
    const checking = access.check(request, () => found.route);
    const { starting } = node;
    if (starting === undefined && !(checking instanceof Promise)) return admitted(request, found, checking);
    return (starting ?? Promise.resolve()).then(async () => admitted(request, found, await checking));
  };
}

const STATUS: Readonly<Record<number, string>> = { 1: 'CANCELLED', 4: 'DEADLINE_EXCEEDED' };

interface TargetOptions {
  readonly request: HttpRequest;
  readonly found: FoundRoute;
  readonly caller: AuthenticatedCaller;
  readonly tenant: string | undefined;
}

/**
 * The agent of a call. gRPC clients can't put a path before the name of a service, so the tenant names
 * the agent: `b`, or `b/t` for the tenant `t` of the agent `b`. Everything else is a tenant of the root
 * agent. The path (`/agents/b/…`, for Connect) and the metadata (for 0.3, which has no tenant) name an
 * agent too; then the tenant is only a tenant.
 */
function targetOf({ routing }: ServedNode, { request, found, caller, tenant }: TargetOptions): CallTarget {
  const { agents } = routing;
  const named = request.header(AGENT_METADATA);
  const [first = '', ...rest] = (tenant ?? '').split('/');
  const isFixed = found.path.agent !== undefined || named !== undefined;
  const byTenant = isFixed ? undefined : agents.find(({ name }) => name === first);
  const agent = named === undefined ? (byTenant ?? found.agent) : agents.find(({ name }) => name === named);
  if (agent === undefined)
    throw new A2AError('INVALID_PARAMS', `this node has no agent ${named?.slice(0, 100)}`, { field: AGENT_METADATA });
  const inner = byTenant === undefined ? (tenant ?? '') : rest.join('/');
  const options = optionsFor(routing, { httpRequest: request, agent, place: placeOf(agent, found), caller });
  return { service: agent.service, options, tenant: inner === '' ? undefined : tenantId(inner) };
}

function placeOf({ name }: ServedAgent, { path, agent }: FoundRoute): FoundRoute['path'] {
  return agent?.name === name ? path : { agent: name, base: `/agents/${name}`, path: path.path };
}

const KINDS: Readonly<Record<number, ErrorKind>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'METHOD_NOT_FOUND',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RATE_LIMITED',
  503: 'UNAVAILABLE',
};

/** A refusal of the access checks as an error. */
export function errorOfRefusal({ status, headers, body }: HttpResponse, requestId?: string): A2AError {
  const message = typeof body === 'string' ? /"message":("(?:[^"\\]|\\.){0,500}")/.exec(body)?.[1] : undefined;
  const challenge = headers['WWW-Authenticate'];
  const retryAfter = headers['Retry-After'];
  return new A2AError(KINDS[status] ?? 'INVALID_REQUEST', message === undefined ? undefined : String(JSON.parse(message)), {
    ...(challenge === undefined ? {} : { challenge }),
    ...(retryAfter === undefined ? {} : { retryAfterMs: Number(retryAfter) * 1000 }),
    ...(requestId === undefined ? {} : { info: { requestId } }),
  });
}
