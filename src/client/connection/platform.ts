import type { DirectInit } from '#bindings';
import { isGrpcWeb, platformFetch } from '#bindings';
import type { Fetch } from '#protocol';
import { kept } from '#protocol';
import type { NodeHttp } from '../adapters/node-http.ts';

/** Browsers, workers, Bun and Deno have other names. */
const isNode = globalThis.navigator?.userAgent?.startsWith('Node.js/') === true;

let opening: Promise<NodeHttp> | undefined;

/** All clients of a program share their connections, as with `fetch`. The code is loaded with the first call. Undefined on other platforms. */
function nodeHttp(): Promise<NodeHttp> | undefined {
  if (isNode) opening ??= import('../adapters/node-http.ts').then((adapter) => adapter.nodeHttp());
  return opening;
}

/** The default of the option `fetch`: the platform's, or on Node `node:http` where the program can see no difference. */
export const defaultFetch: Fetch = async (request) => {
  const http = isGrpcWeb(request.headers.get('content-type')) ? undefined : await nodeHttp();
  return await (http?.send(request) ?? platformFetch(request));
};

/** The same without a `Request`, for calls that no other code has to see. */
export async function directFetch(url: string, init: DirectInit): Promise<Response> {
  if (isGrpcWeb(init.headers['Content-Type'])) return await platformFetch(kept(new Request(url, init)));
  return await ((await nodeHttp())?.sendTo(url, init) ?? fetch(url, init));
}
