import type { Fetch } from '#protocol';
import { kept } from '#protocol';
import { isMediaType } from '../media.ts';
import { GRPC_WEB_TYPE } from './media-types.ts';

const own: Fetch = (request) => fetch(kept(request));

let opened: Promise<Fetch> | undefined;

/** The connections of gRPC are shared by the whole program. Their code is loaded with the first call. */
function overHttp2(): Promise<Fetch> {
  opened ??= import('./on-demand.ts').then(({ grpcOverHttp2 }) => grpcOverHttp2(own).fetch);
  return opened;
}

/** The platform's fetch. Calls of gRPC go over HTTP/2 where the platform has it: Node, Bun and Deno. */
export const platformFetch: Fetch = async (request) =>
  isGrpcWeb(request.headers.get('content-type')) ? await (await overHttp2())(request) : await own(request);

/** Whether a request or a response is one of gRPC-Web. */
export function isGrpcWeb(contentType: string | null | undefined): boolean {
  return isMediaType(contentType, [GRPC_WEB_TYPE]);
}
