import type { A2AService, EventStream } from '#protocol';
import { A2AError } from '#protocol';
import type { LinkOptions, LinkTransport } from '../link-service.ts';
import { linkService } from '../link-service.ts';
import { DriverMissing, isMissingPackage } from './driver-missing.ts';

/**
 * An `A2AService` that calls a remote agent over gRPC. It speaks gRPC-Web to `options.fetch`, because a
 * `Response` has no trailers. On Node, `platformFetch` turns that into gRPC over HTTP/2; in a browser it
 * stays gRPC-Web. The code and protobuf are loaded with the first call, because most programs never need
 * them.
 */
export function grpcLink(options: LinkOptions): A2AService {
  let opened: Promise<LinkTransport> | undefined;
  const open = (): Promise<LinkTransport> => {
    opened ??= import('./on-demand.ts').catch(notLoaded).then(({ openTransport }) => openTransport(options));
    return opened;
  };
  return linkService(
    {
      unary: async (operation, request, ctx) => await (await open()).unary(operation, request, ctx),
      stream: (operation, request, ctx) => deferred(open().then((transport) => transport.stream(operation, request, ctx))),
    },
    options,
  );
}

async function* deferred(stream: Promise<EventStream>): EventStream {
  yield* await stream;
}

function notLoaded(cause: unknown): never {
  const missing = isMissingPackage(cause) ? new DriverMissing() : undefined;
  throw new A2AError('UNAVAILABLE', missing?.message ?? 'the code of gRPC can’t be loaded', { cause: missing ?? cause });
}
