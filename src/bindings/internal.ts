// What the other rooms of this package may use of `bindings`. The published names are in index.ts.
export { AG_UI_BODY_BYTES_MAX, type AgUiOptions, answerAgUi, type OnHangUp } from './ag-ui/serve.ts';
export type { Binding, BindingRoute, ClientBinding, RefusalOptions } from './binding.ts';
export * from './body.ts';
export { decodeRequest, decodeResult, encodeRequest, encodeResult, unsupported } from './codec.ts';
export { jsonBody, textStream } from './document-stream.ts';
export * from './failures.ts';
export type {
  AdmittedCall,
  CallRecording,
  CallTarget,
  GrpcHost,
  TrackedCall,
  UnsentMessages,
} from './grpc/host.ts';
export { grpcInterfaces } from './grpc/interfaces.ts';
export { isGrpcWeb, platformFetch } from './grpc/platform-fetch.ts';
export { AGENT_METADATA, GRPC_OPERATOR_SERVICES, GRPC_SERVICES, isConnectType, isGrpcTrailer, isGrpcType } from './grpc/services.ts';
export { trailersFrame, writeStatus } from './grpc/wire.ts';
export {
  ANY_CELL,
  type ElsewhereMark,
  type ForwardedRequest,
  type HttpRequest,
  type HttpResponse,
  type Peer,
  type PeerCertificate,
  type ResponseStream,
  respondTo,
  toHttpRequest,
} from './http.ts';
export { jsonRpcLink } from './jsonrpc/link.ts';
export { serveJsonRpc } from './jsonrpc/serve.ts';
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
export { LateWatch } from './late-watch.ts';
export { type DirectInit, type LinkHeaders, type LinkOptions, type LinkTransport, serviceOver } from './link-service.ts';
export { bindingOf, bindingWords, CLIENT_BINDINGS, DEFAULT_BINDING, findBinding, type ProtocolBinding } from './links.ts';
export { type ChatMemory, createChatMemory } from './openai/memory.ts';
export type { ResponsesOptions } from './openai/responses/call.ts';
export { answerConversations } from './openai/responses/conversations.ts';
export { answerResponses } from './openai/responses/serve.ts';
export { answerChat, answerModels, type ChatAgent, type ChatOptions } from './openai/serve.ts';
export { refusalBody } from './openai/write.ts';
export type { BindingServeOptions, Caller } from './options.ts';
export { BINDINGS } from './registry.ts';
export { requestBytes } from './request-body.ts';
export { requireExtensions } from './required-extensions.ts';
export { writeSafely } from './responses.ts';
export { restLink } from './rest/link.ts';
export { hasRestRoute, serveRest } from './rest/serve.ts';
export * from './sse.ts';
export { type SseEvent, SseParser } from './sse-parser.ts';
export { type StdioLink, stdioLink } from './stdio/link.ts';
export { type StdioOptions, serveStdio } from './stdio/serve.ts';
export type { Channel } from './stdio/wire.ts';
