/** The body of gRPC. Programs that never use gRPC load these names too, and nothing else of its wire. */
export const GRPC_TYPE = 'application/grpc+proto';
/** The body of gRPC-Web, which `fetch` can send and read. */
export const GRPC_WEB_TYPE = 'application/grpc-web+proto';
