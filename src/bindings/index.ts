/**
 * A2A on the wire: JSON-RPC, HTTP+JSON and pipes. A `serve` function answers requests from an
 * `A2AService`; a `link` function makes an `A2AService` of a remote agent. Both take the dialect as an
 * argument and use web standards only, so that they can be joined without a socket:
 *
 * ```ts
 * const link = jsonRpcLink({ url: 'http://agent/a2a', dialect, fetch: (request) => serveJsonRpc(request, service) });
 * const { task } = await link.send({ message: createUserMessage('hello') }, ctx);
 * ```
 */
export type { Binding, ClientBinding } from './binding.ts';
export { type HttpRequest, type HttpResponse, respondTo, toHttpRequest } from './http.ts';
export { jsonRpcLink } from './jsonrpc/link.ts';
export { serveJsonRpc } from './jsonrpc/serve.ts';
export type { DirectInit, LinkOptions } from './link-service.ts';
export { findBinding, type ProtocolBinding } from './links.ts';
export type { BindingServeOptions, Caller } from './options.ts';
export { BINDINGS } from './registry.ts';
export { restLink } from './rest/link.ts';
export { serveRest } from './rest/serve.ts';
export { type StdioLink, stdioLink } from './stdio/link.ts';
export { type StdioOptions, serveStdio } from './stdio/serve.ts';
export type { Channel } from './stdio/wire.ts';
