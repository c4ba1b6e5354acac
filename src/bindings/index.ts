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

export type { Binding, BindingRoute, RefusalOptions } from './binding.ts';
export * from './body.ts';
export { decodeRequest, decodeResult, encodeRequest, encodeResult, unsupported } from './codec.ts';
export { writeSafely } from './door.ts';
export {
  type HttpRequest,
  type HttpResponse,
  type Outflow,
  type Peer,
  type PeerCertificate,
  respondTo,
  toHttpRequest,
} from './exchange.ts';
export * from './failures.ts';
export { jsonRpcLink } from './jsonrpc/link.ts';
export { answerJsonRpc, refuseJsonRpc, serveJsonRpc } from './jsonrpc/serve.ts';
export {
  errorText,
  type RpcRequest,
  readAnswer,
  readableId,
  readEnvelope,
  requestObject,
  requestText,
  resultText,
} from './jsonrpc/wire.ts';
export { type ChatMemory, createChatMemory } from './openai/memory.ts';
export { answerChat, answerModels, type ChatAgent, type ChatOptions } from './openai/serve.ts';
export { refusalBody } from './openai/write.ts';
export type { Caller, ServeOptions } from './options.ts';
export { type LinkHeaders, type LinkOptions, serviceOver, type Wire } from './outward.ts';
export { BINDINGS, bindingOf, findBinding, type ProtocolBinding } from './registry.ts';
export { restLink } from './rest/link.ts';
export { answerRest, hasRestRoute, refuseRest, serveRest } from './rest/serve.ts';
export * from './sse.ts';
export { type SseEvent, SseParser } from './sse-parser.ts';
export { type StdioLink, stdioLink } from './stdio/link.ts';
export { type StdioOptions, serveStdio } from './stdio/serve.ts';
export type { Channel } from './stdio/wire.ts';
