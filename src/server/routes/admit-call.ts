import type { AdmittedCall, CallTarget, HttpRequest, HttpResponse } from '#bindings';
import { AGENT_METADATA } from '#bindings';
import type { ErrorKind } from '#protocol';
import { A2AError, countedIds, ERRORS, GRPC_STATUS, tenantId } from '#protocol';
import type { Access, AccessDecision } from '../access/access.ts';
import type { AuthenticatedCaller } from '../access/authentication/caller.ts';
import { callerKey, isLocal } from '../access/authentication/caller.ts';
import { requestIdOf } from '../access/request-id.ts';
import type { ServedAgent } from '../agents/served-agent.ts';
import type { ServedNode } from '../assemble.ts';
import type { Fields } from '../observability/log.ts';
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
  /** Called for each call that the access checks refuse. */
  readonly onRefused: (
    request: HttpRequest,
    refused: { readonly status: number; readonly caller: AuthenticatedCaller | undefined },
  ) => void;
}

/**
 * The access checks for calls over gRPC: the same as for HTTP, on the metadata of the call. A refusal
 * becomes an error, because gRPC has a format of its own for it.
 */
export function createAdmission({
  access,
  node,
  requests,
  onRefused,
}: AdmissionOptions): (request: HttpRequest) => AdmittedCall | Promise<AdmittedCall> {
  const env = { ids: countedIds(), limits: node.limits };
  const admitted = (request: HttpRequest, found: FoundRoute, decision: AccessDecision): AdmittedCall => {
    const { route, caller } = decision;
    // Health probes and reflection would bury everything else.
    const recording = route?.name === 'grpc' ? node.traffic.beginCall(request) : undefined;
    recording?.began(caller);
    if (decision.response !== undefined || route === undefined || caller === undefined || found.agent === undefined) {
      const { status, error } = refusalOf(request, decision);
      requests.add([route?.name ?? 'none', String(status)]);
      recording?.ended(statusName(ERRORS[error.kind].grpc), error.message);
      onRefused(request, { status, caller });
      throw error;
    }
    const about = (): Fields => requestFields(request, { caller, agent: found.agent?.name });
    return {
      caller,
      env,
      onError: (cause) => node.log.error('a call over gRPC failed', cause, about()),
      callerKey: isLocal(caller) ? undefined : callerKey(caller),
      httpRequest: access.countBody(caller, request, route),
      headers: access.corsHeaders(request) ?? {},
      target: (tenant) => targetOf(node, { request, found, caller, tenant }),
      track: (stream) => node.openStreams.track(stream, caller.isStillValid),
      recording,
      ended: (code, message = '') => {
        // Another replica answers: its response is counted there.
        if (request.elsewhere?.cell !== undefined) return recording?.ended('FORWARDED', 'another node has answered');
        const status = statusName(code);
        requests.add([route.name, `grpc ${status}`]);
        recording?.ended(status, message);
        if (node.log.isOn('debug'))
          node.log.debug('request', { ...about(), method: request.method, path: request.path, status: `grpc ${status}` });
      },
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

/** Statuses that no error of ours has. */
const STATUS: Readonly<Record<number, string>> = { 0: 'OK', 1: 'CANCELLED', 4: 'DEADLINE_EXCEEDED' };

function statusName(code: number): string {
  return GRPC_STATUS[code] ?? STATUS[code] ?? String(code);
}

function refusalOf(request: HttpRequest, { response, route }: AccessDecision): { readonly status: number; readonly error: A2AError } {
  if (response !== undefined && !takesNoCalls(route, response))
    return { status: response.status, error: errorOfRefusal(response, requestIdOf(request)) };
  const what = response !== undefined ? 'no gRPC service' : route === undefined ? 'nothing' : 'no agent';
  return { status: 404, error: new A2AError('METHOD_NOT_FOUND', `${what} is served at ${request.path.slice(0, 100)}`) };
}

/** Whether a route is none of gRPC, and has refused a call because of its form. */
function takesNoCalls(route: AccessDecision['route'], { status }: HttpResponse): boolean {
  return KINDS[status] === undefined && route?.name !== 'grpc' && route?.name !== 'grpc-operators';
}

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
