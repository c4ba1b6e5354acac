/**
 * The bindings room: A2A on a wire, both halves of each in one folder. A `serve` half makes answers out of an `A2AService`, a
 * `link` half is an `A2AService` made of somebody else's answers; the dialect is an argument to both. It imports `#protocol`
 * alone and uses nothing but web standards, so the two halves meet without a socket:
 *
 * ```ts
 * const link = jsonRpcLink({ url: 'http://agent/a2a', dialect: v03, fetch: (request) => serveJsonRpc(request, engine) });
 * const { task } = await link.send({ message: createUserMessage('hello') }, ctx);
 * ```
 */
export * from './body.ts';
export { type Answer, type Asked, askedOf, type Outflow, respondTo } from './exchange.ts';
export { jsonRpcLink } from './jsonrpc/link.ts';
export { answerJsonRpc, serveJsonRpc } from './jsonrpc/serve.ts';
export type { Caller, ServeOptions } from './options.ts';
export type { LinkHeaders, LinkOptions } from './outward.ts';
export { restLink } from './rest/link.ts';
export { answerRest, hasRestRoute, serveRest } from './rest/serve.ts';
export * from './sse.ts';
