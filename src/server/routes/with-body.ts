import type { HttpRequest } from '#bindings';

/** The same request with another function that reads its body. */
export function withBody(request: HttpRequest, body: HttpRequest['body']): HttpRequest {
  const { method, origin, path, query, peer, forwarded, elsewhere } = request;
  return {
    ...{ method, origin, path, query, peer, forwarded, elsewhere, body },
    // A getter, because hosts create the signal only when something needs it.
    get signal() {
      return request.signal;
    },
    header: (name) => request.header(name),
    ...(request.onDelivered === undefined ? {} : { onDelivered: (mark: () => void) => request.onDelivered?.(mark) }),
  };
}
