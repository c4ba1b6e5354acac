// What only programs that call over gRPC load, with protobuf: one file in a bundle.
export { grpcOverHttp2 } from './adapters/http2.ts';
export { openTransport } from './transport.ts';
