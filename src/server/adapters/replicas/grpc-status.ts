import { writeStatus } from '#bindings';
import { A2AError } from '#protocol';

const RETRY_MS = 1000;

/** The trailers of a call over gRPC that no replica answers. Its details need packages that are loaded only for calls over gRPC. */
export async function unavailableTrailers(message: string): Promise<Readonly<Record<string, string>>> {
  const { statusOf } = await import('../../../bindings/grpc/adapters/status.ts');
  return writeStatus(statusOf(new A2AError('UNAVAILABLE', message, { retryAfterMs: RETRY_MS })));
}
