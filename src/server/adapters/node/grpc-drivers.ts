import type { createConnectRoad } from '../../../bindings/grpc/adapters/connect.ts';
import type { serveDirect } from '../../../bindings/grpc/adapters/direct.ts';

/** What serves gRPC, gRPC-Web and Connect. */
export interface GrpcDrivers {
  readonly serveDirect: typeof serveDirect;
  readonly createConnectRoad: typeof createConnectRoad;
}

/** The packages that gRPC needs. They are optional. */
const PACKAGES = ['@bufbuild/protobuf', '@connectrpc/connect', '@connectrpc/connect-node'];

/** The packages that are missing. Empty: gRPC can be served. */
export function missingGrpcPackages(): readonly string[] {
  return PACKAGES.filter((name) => {
    try {
      import.meta.resolve(name);
      return false;
    } catch {
      return true;
    }
  });
}

/** Loads the drivers. They cost a tenth of a second, so the first call loads them and not the start of the node. */
export async function loadGrpcDrivers(): Promise<GrpcDrivers> {
  const [{ serveDirect: direct }, { createConnectRoad: road }] = await Promise.all([
    import('../../../bindings/grpc/adapters/direct.ts'),
    import('../../../bindings/grpc/adapters/connect.ts'),
  ]);
  return { serveDirect: direct, createConnectRoad: road };
}
