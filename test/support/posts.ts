import type { BindingServeOptions } from '#bindings';
import { serveJsonRpc } from '#bindings';
import type { A2AService, Json } from '#protocol';
import { memoryService } from './memory-service.ts';

export interface Posted {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of the response, as far as tests read it. */
  readonly body: {
    readonly jsonrpc?: string;
    readonly id?: unknown;
    readonly result?: Json;
    readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
  };
}

export interface PostOptions extends BindingServeOptions {
  readonly service?: A2AService;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Posts a body as it is, in `application/json` unless the headers say otherwise. */
export async function postRaw(body: string | Uint8Array | undefined, options: PostOptions = {}): Promise<Response> {
  const { service = memoryService(), path = '/a2a', headers = {}, ...serving } = options;
  const request = new Request(`http://agent.example${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
  return await serveJsonRpc(request, service, serving);
}

export async function post(envelope: unknown, options: PostOptions = {}): Promise<Posted> {
  const response = await postRaw(typeof envelope === 'string' ? envelope : JSON.stringify(envelope), options);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Posted['body'] };
}

export function rpc(method: string, params?: unknown, id: unknown = 1): Record<string, unknown> {
  return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
}

/** A 1.0 message with the role of the user. */
export function v10Message(text: string): Record<string, unknown> {
  return { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text }] } };
}
