import type { Caller, HttpRequest, HttpResponse } from '#bindings';
import { ANY_CELL } from '#bindings';
import type { Audit } from '../audit/audit.ts';
import type { AuditDraft } from '../audit/chain.ts';
import type { ServerLimits } from '../limits.ts';
import type { HandlerOptions } from '../options.ts';
import type { Route } from '../routes/routes.ts';
import { createAuthenticate, requestFactsOf } from './authentication/authenticate.ts';
import type { Authenticate, AuthenticatedCaller } from './authentication/caller.ts';
import { authenticateAsLocal, isRefusal, LOCAL_CALLER } from './authentication/caller.ts';
import { authoriseRoute } from './authorisation/authorise-route.ts';
import { createHostOriginCheck } from './host-origin.ts';
import { createRequestLimits } from './limits/request-limits.ts';
import { createTokenBuckets } from './limits/token-buckets.ts';
import type { AccessRefusal } from './refusal.ts';
import { requestIdOf } from './request-id.ts';

/** What the access checks need of the node. */
export interface AccessOptions {
  readonly options: Pick<HandlerOptions, 'auth' | 'authenticate' | 'url' | 'callerCounts' | 'allowedHosts' | 'allowedOrigins'>;
  readonly limits: ServerLimits;
  readonly audit: Audit;
  /** A refusal while the node shuts down. */
  readonly refuseWhileStopping: (route: Route) => HttpResponse | undefined;
}

/** The result of the access checks for one request. */
export interface AccessDecision {
  /** Undefined if step 1 refused the request before it was routed, or if the path has no such route. */
  readonly route: Route | undefined;
  /** Undefined if the request was refused before or during authentication. */
  readonly caller?: AuthenticatedCaller;
  /**
   * Send this instead of calling the route: a refusal, or the response to a CORS preflight. Undefined:
   * the request is allowed.
   */
  readonly response?: HttpResponse;
}

/**
 * The access checks of a node. Each request passes four steps, in this order:
 *
 * 1. host and origin (host-origin.ts): is the request for this node, and may this web page call it?
 * 2. authentication (authentication/): who is the caller?
 * 3. limits (limits/): is the body acceptable, and does the caller stay within its rate?
 * 4. authorisation (authorisation/): may this caller use this route? `authoriseCalls` repeats the
 *   question for each A2A operation.
 *
 * Each refusal is recorded in the audit log.
 */
export interface Access {
  /** Runs the four steps. `findRoute` is called after the host check. */
  check(request: HttpRequest, findRoute: () => Route | undefined): AccessDecision | Promise<AccessDecision>;
  /** Counts a body of unknown length against the caller's byte limit while it is read. */
  countBody(caller: Caller, request: HttpRequest, route: Route): HttpRequest;
  /** CORS headers for the response, if a web page that may call made the request. */
  corsHeaders(request: HttpRequest): Readonly<Record<string, string>> | undefined;
  /**
   * Called before an admin request runs. A request that changes something is recorded first. Throws
   * `UNAVAILABLE` while the audit log can't be written: no change may be made without a record.
   */
  admitAdminRequest(request: HttpRequest, caller: Caller | undefined): Promise<void>;
  /** Records a request to an admin route, whatever its result. */
  recordAdminRequest(request: HttpRequest, response: HttpResponse, caller: Caller | undefined): void;
}

/**
 * Admin paths that monitoring and the console poll every few seconds. Reading them is not recorded:
 * they show no task content, except open approvals, and recorded traffic, whose recording is itself in
 * the audit log. `parley backup` polls how far the backup is.
 */
const POLLED_PATHS: ReadonlySet<string> = new Set([
  '/metrics',
  ...['health', 'logs', 'approvals', 'mesh', 'replicas', 'wire', 'backup'].map((name) => `/api/parley/v1/${name}`),
]);

const RECORDED_STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);

/** Builds the four steps from the options of a node. */
export function createAccess({ options, limits, audit, refuseWhileStopping }: AccessOptions): Access {
  const hostOrigin = createHostOriginCheck(options);
  const authenticate = authenticateBy(options, limits);
  const requestLimits = createRequestLimits(limits, options.callerCounts);

  /** Records a refusal, under the request id that the response carries. */
  const recorded = (request: HttpRequest, { reason, ...response }: AccessRefusal, caller?: Caller): HttpResponse => {
    if (!RECORDED_STATUSES.has(response.status)) return response;
    const draft = auditDraft(request, caller);
    audit.refused({ ...draft, action: `http.${request.method}`, decision: 'denied', reason: reason ?? String(response.status) });
    return response;
  };
  const checkCaller = (request: HttpRequest, route: Route | undefined, result: AuthenticatedCaller | AccessRefusal): AccessDecision => {
    if (isRefusal(result)) return { route, response: recorded(request, result) };
    const found = route?.access === 'public' || result.request !== undefined ? result : withFacts(result, request);
    if (route === undefined) return { route, caller: found };
    const stopping = refuseWhileStopping(route);
    if (stopping !== undefined && request.elsewhere !== undefined) request.elsewhere.cell = ANY_CELL;
    const refusal = stopping ?? requestLimits.check(request, route, found) ?? authoriseRoute(request, route, found);
    return refusal === undefined ? { route, caller: found } : { route, caller: found, response: recorded(request, refusal, found) };
  };
  return {
    check: (request, findRoute) => {
      const early = hostOrigin.refuse(request) ?? hostOrigin.preflight(request);
      if (early !== undefined) return { route: undefined, response: recorded(request, early) };
      const route = findRoute();
      const isPublic = route?.access === 'public';
      const crossSite = hostOrigin.refuseCrossSite(request, isPublic);
      if (crossSite !== undefined) return { route, response: recorded(request, crossSite) };
      const found = isPublic ? LOCAL_CALLER : authenticate(request, route);
      if (found instanceof Promise) return found.then((settled) => checkCaller(request, route, settled));
      return checkCaller(request, route, found);
    },
    countBody: requestLimits.countBody,
    corsHeaders: hostOrigin.corsHeaders,
    admitAdminRequest: async (request, caller) => {
      if (isPolled(request)) return;
      if (!isRead(request)) {
        audit.record({ ...auditDraft(request, caller), action: `admin.${request.method}`, decision: 'allowed', reason: 'started' });
      }
      await audit.written();
    },
    recordAdminRequest: (request, response, caller) => {
      if (isPolled(request)) return;
      const draft = auditDraft(request, caller);
      const reason = request.elsewhere?.cell === undefined ? String(response.status) : 'forwarded';
      audit.record({ ...draft, action: `admin.${request.method}`, decision: 'allowed', reason });
    },
  };
}

/** The caller with the id of its request, if the authentication did not add it. */
function withFacts(caller: AuthenticatedCaller, request: HttpRequest): AuthenticatedCaller {
  const facts = { id: requestIdOf(request) };
  return { ...caller, request: caller === LOCAL_CALLER ? { ...facts, isOpen: true } : facts };
}

function isRead({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Not recorded. */
function isPolled(request: HttpRequest): boolean {
  return POLLED_PATHS.has(request.path) && isRead(request);
}

function authenticateBy({ auth, authenticate }: AccessOptions['options'], limits: ServerLimits): Authenticate {
  if (authenticate !== undefined) return authenticate;
  if (auth === undefined) return authenticateAsLocal;
  const failures = createTokenBuckets({ perSecond: limits.requestsPerSecondMax, burst: limits.requestsBurstMax });
  return createAuthenticate({ methods: auth, failures });
}

type RequestDraft = Omit<AuditDraft, 'action' | 'decision'> & { readonly requestId: string };

/** The facts of a request that every audit record has. */
function auditDraft(request: HttpRequest, caller: Caller | undefined): RequestDraft {
  const { id, client } = caller?.request ?? requestFactsOf(request);
  const tenant = caller?.tenant ?? '';
  return {
    principal: caller?.principal.id ?? '',
    ...(tenant === '' ? {} : { tenant }),
    object: request.path,
    requestId: id,
    ...(client === undefined ? {} : { client }),
  };
}
