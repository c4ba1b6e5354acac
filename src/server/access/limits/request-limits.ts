import type { Caller, HttpRequest } from '#bindings';
import type { ServerLimits } from '../../limits.ts';
import type { Route } from '../../routes/routes.ts';
import type { AccessRefusal } from '../refusal.ts';
import { refusalFor } from '../refusal.ts';
import type { CallerCounts } from './caller-counts.ts';
import { refuseContent } from './content-type.ts';
import { createRateLimiter } from './rate-limit.ts';

/**
 * Step 3 of the access checks, before the body is read: content type and encoding, then the caller's
 * rate.
 */
export interface RequestLimits {
  check(request: HttpRequest, route: Route, caller: Caller): AccessRefusal | undefined;
  /** Counts a body of unknown length against the caller's byte limit while it is read. */
  countBody(caller: Caller, request: HttpRequest, route: Route): HttpRequest;
}

/** The content check comes first: a refused body costs the caller no tokens. */
export function createRequestLimits(limits: ServerLimits, counts?: CallerCounts): RequestLimits {
  const rate = createRateLimiter(limits, counts);
  return {
    check: (request, route, caller) => {
      const refusal = refuseContent(request, route);
      if (refusal !== undefined) return refusal;
      const error = rate.check(caller, request, route);
      return error === undefined ? undefined : refusalFor(request, route, { error });
    },
    countBody: rate.countBody,
  };
}
