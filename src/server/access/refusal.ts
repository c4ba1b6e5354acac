import type { HttpRequest, HttpResponse } from '#bindings';
import type { A2AError } from '#protocol';
import { errorAnswer } from '../routes/responses.ts';
import type { Route } from '../routes/routes.ts';
import { parsePath } from '../routes/routes.ts';

/** The response to a request that an access check refuses. */
export interface AccessRefusal extends HttpResponse {
  /** For the audit log. It may say more than the caller learns. Default: the status. */
  readonly reason?: string;
}

/** The refusal for an error, in the format of the route that the request was for. */
export function refusalFor(
  request: HttpRequest,
  route: Route | undefined,
  { error, reason = error.message }: { readonly error: A2AError; readonly reason?: string },
): AccessRefusal {
  return { ...errorResponseFor(request, route, error), reason };
}

/**
 * An error in the format of the route. `status` replaces the error's own HTTP status on HTTP+JSON
 * routes.
 */
export function errorResponseFor(request: HttpRequest, route: Route | undefined, error: A2AError, status?: number): HttpResponse {
  if (route?.binding === undefined) return errorAnswer(error);
  const { base: basePath } = parsePath(request.path);
  return route.binding.refuse(request, error, status === undefined ? { basePath } : { basePath, status });
}
