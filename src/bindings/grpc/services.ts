/** The services of A2A over gRPC, the newest version first. Their names are the first part of each call's path. */
export const GRPC_SERVICES: readonly string[] = ['lf.a2a.v1.A2AService', 'a2a.v1.A2AService'];

/** Health checks and reflection. Everyone may call them. */
export const GRPC_OPERATOR_SERVICES: readonly string[] = [
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
];

/** Metadata that names the agent of a call. For A2A 0.3, whose messages have no tenant. */
export const AGENT_METADATA = 'parley-agent';

/** gRPC with protobuf, which this server handles on the streams of HTTP/2 itself. */
export function isGrpcType(type: string | undefined): boolean {
  return type !== undefined && /^application\/grpc(?:\+proto)?\s*(?:;|$)/i.test(type);
}

/** The content types of Connect, of gRPC-Web, and of gRPC with JSON, which Connect's router handles. */
export function isConnectType(type: string | undefined): boolean {
  return (
    type !== undefined &&
    /^application\/(?:proto|json|connect\+(?:proto|json)|grpc-web(?:\+proto|\+json)?|grpc\+json)\s*(?:;|$)/i.test(type)
  );
}

/** A header that ends a call of gRPC: it belongs into the trailers. */
export function isGrpcTrailer(name: string): boolean {
  return /^grpc-(?:status|message)/.test(name);
}
