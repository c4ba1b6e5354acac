import type { Caller, HttpRequest, HttpResponse } from '#bindings';
import type { Ids } from '#protocol';
import { A2AError, countedIds } from '#protocol';
import type { Audit } from '../audit/audit.ts';
import type { AuditDraft } from '../audit/chain.ts';
import type { ServerLimits } from '../limits.ts';
import type { HandlerOptions } from '../options.ts';
import type { Route } from '../routes/routes.ts';
import { createAuthenticate, factsOf, refusalFor } from './authentication/authenticate.ts';
import type { Authenticate, Refusal } from './authentication/caller.ts';
import { authenticateAsLocal } from './authentication/caller.ts';
import { hasScope } from './authorisation/scopes.ts';
import { wrongBody } from './limits/content-type.ts';
import { createRateLimiter } from './limits/rate-limit.ts';
import { createTokenBuckets } from './limits/token-buckets.ts';

export interface AccessOptions {
  readonly options: Pick<HandlerOptions, 'auth' | 'gate'>;
  readonly limits: ServerLimits;
  readonly audit: Audit;
}

/** Everything between a request that names us and whoever answers it. */
export interface Access {
  /** Who calls. */
  readonly admit: Authenticate;
  /** What comes after that and before any lookup: content type, rate, authorisation. */
  check(request: HttpRequest, route: Route, caller: Caller): Refusal | undefined;
  /** The request as it goes on: what is not known of its size yet is counted as it comes. */
  counted(caller: Caller, request: HttpRequest): HttpRequest;
  /** Writes a refusal down, and gives it the number under which that is found. */
  note(request: HttpRequest, refused: Refusal, about: { readonly route: Route | undefined; readonly caller?: Caller }): HttpResponse;
  /** What operators do is written down, whether it worked or not. */
  noteAdmin(request: HttpRequest, outcome: { readonly answer: HttpResponse; readonly caller?: Caller }): void;
}

/** Asked for every few seconds by whoever watches. They show nobody's content but what is asked of people, and the wire while somebody has switched that on, which is written down. */
const POLLED: ReadonlySet<string> = new Set([
  '/metrics',
  ...['health', 'logs', 'approvals', 'mesh', 'wire'].map((name) => `/api/parley/v1/${name}`),
]);

export function createAccess({ options, limits, audit }: AccessOptions): Access {
  const ids: Ids = countedIds();
  const failures = createTokenBuckets({ perSecond: limits.requestsPerSecondMax, burst: limits.requestsBurstMax });
  const limiter = createRateLimiter(limits);
  const admit =
    options.gate ?? (options.auth === undefined ? authenticateAsLocal : createAuthenticate({ methods: options.auth, failures, ids }));
  const draftOf = (
    request: HttpRequest,
    caller: Caller | undefined,
  ): Omit<AuditDraft, 'action' | 'decision'> & { readonly requestId: string } => {
    const { id, client } = caller?.request ?? factsOf(request, ids);
    const tenant = caller?.tenant ?? '';
    return {
      principal: caller?.principal.id ?? '',
      ...(tenant === '' ? {} : { tenant }),
      object: request.path,
      requestId: id,
      ...(client === undefined ? {} : { client }),
    };
  };
  return {
    admit,
    check: (request, route, caller) => {
      const wrong = wrongBody(request, route);
      if (wrong !== undefined) return wrong;
      const limited = limiter.check(caller, request);
      if (limited !== undefined) return { ...refusalFor(request, route, limited), why: limited.message };
      return route.access === 'admin' && !hasScope(caller.principal, 'admin') ? withoutScope(request, route) : undefined;
    },
    counted: limiter.counted,
    note: (request, { why, ...answer }, { caller }) => {
      const { status } = answer;
      if (status !== 401 && status !== 403 && status !== 429) return answer;
      const draft = draftOf(request, caller);
      audit.refused({ ...draft, action: `http.${request.method}`, decision: 'denied', reason: why ?? String(status) });
      return { ...answer, headers: { ...answer.headers, 'X-Request-Id': draft.requestId } };
    },
    noteAdmin: (request, { answer, caller }) => {
      if (POLLED.has(request.path) && (request.method === 'GET' || request.method === 'HEAD')) return;
      audit.record({ ...draftOf(request, caller), action: `admin.${request.method}`, decision: 'allowed', reason: String(answer.status) });
    },
  };
}

function withoutScope(request: HttpRequest, route: Route): Refusal {
  const error = new A2AError('PERMISSION_DENIED', 'this needs the scope admin', {
    challenge: 'Bearer realm="parley", error="insufficient_scope", scope="admin"',
  });
  return { ...refusalFor(request, route, error), why: error.message };
}
