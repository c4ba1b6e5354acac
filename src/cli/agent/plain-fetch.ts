import type { Fetch } from '#protocol';
import { kept } from '#protocol';

/** Statuses of redirects that a fetch follows. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const HOPS_MAX = 20;
/** Headers that another origin must not see. */
const PRIVATE = ['authorization', 'cookie', 'proxy-authorization', 'host'];

/** Adds to a plain fetch what the platform's own one does: it follows redirects if the request allows that, and decompresses. */
export function likePlatform(next: Fetch): Fetch {
  const decompressing = decompressed(next);
  return (request) => (request.redirect === 'manual' ? decompressing(request) : followed(request, decompressing));
}

async function followed(request: Request, next: Fetch): Promise<Response> {
  const { signal } = request;
  const headers = new Headers(request.headers);
  let { url, method } = request;
  let body = request.body === null ? undefined : await request.arrayBuffer();
  for (let hops = 0; hops <= HOPS_MAX; hops += 1) {
    const init: RequestInit = { method, headers, signal, redirect: 'manual' };
    const response = await next(kept(new Request(url, body === undefined ? init : { ...init, body }), signal));
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null) return response;
    await response.body?.cancel();
    const target = URL.parse(location, url);
    if (request.redirect === 'error' || target === null || !/^https?:$/.test(target.protocol)) throw new TypeError('unexpected redirect');
    if (target.origin !== new URL(url).origin) for (const name of PRIVATE) headers.delete(name);
    if (becomesGet(response.status, method)) {
      method = 'GET';
      body = undefined;
      headers.delete('content-type');
    }
    url = target.href;
  }
  throw new TypeError('redirect count exceeded');
}

/** The fetch standard, "HTTP-redirect fetch": step 12. */
function becomesGet(status: number, method: string): boolean {
  return status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
}

/** Servers may compress although the request asks them not to. */
function decompressed(next: Fetch): Fetch {
  return async (request) => {
    const response = await next(request);
    const coding = response.headers.get('content-encoding')?.toLowerCase();
    const format = coding === 'gzip' || coding === 'x-gzip' ? 'gzip' : coding === 'deflate' ? 'deflate' : undefined;
    if (format === undefined || response.body === null) return response;
    const headers = new Headers(response.headers);
    for (const name of ['content-encoding', 'content-length']) headers.delete(name);
    return new Response(response.body.pipeThrough(new DecompressionStream(format)), { status: response.status, headers });
  };
}
