import type { AgentInterface } from '#protocol';
import { tenantId } from '#protocol';

/**
 * The interfaces of gRPC for the card of an agent. gRPC has no paths: the address is `host:port`, and
 * an agent at `/agents/{name}` is reached by its name as the tenant. A2A 0.3 has no tenants, so its
 * interface is on the card of the root agent only. Below any other path a proxy maps paths, which gRPC
 * does not have: then there are none.
 */
export function grpcInterfaces(baseUrl: string): readonly AgentInterface[] {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const url = `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
  const name = /^\/agents\/([^/]+)$/.exec(pathname)?.[1];
  if (name !== undefined) return [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0', tenant: tenantId(name) }];
  if (pathname !== '/') return [];
  return ['1.0', '0.3'].map((protocolVersion) => ({ url, protocolBinding: 'GRPC', protocolVersion }));
}
