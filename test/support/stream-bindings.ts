import type { BindingServeOptions } from '#bindings';
import { serveJsonRpc, serveRest } from '#bindings';
import type { A2AService, CallContext, Logged, Task } from '#protocol';
import { seq, taskId } from '#protocol';
import { memoryService } from './memory-service.ts';
import { rpc, v10Message } from './posts.ts';

export const TASK: Task = { id: taskId('t1'), status: { state: 'TASK_STATE_WORKING' } };
export const working = (at: number): Logged => ({ seq: seq(at), event: { task: TASK } });

/** A service whose stream the test defines. */
export function streaming(stream: (ctx: CallContext, request: unknown) => AsyncIterable<readonly Logged[]>): A2AService {
  return { ...memoryService(), stream: (request, ctx) => stream(ctx, request), subscribe: (request, ctx) => stream(ctx, request) };
}

interface StreamBinding {
  readonly name: string;
  readonly open: (
    service: A2AService,
    options?: BindingServeOptions & { headers?: Record<string, string>; signal?: AbortSignal },
  ) => Promise<Response>;
  readonly subscribe: (service: A2AService, headers: Record<string, string>) => Promise<Response>;
}

export function jsonPost(
  path: string,
  body: unknown,
  more: { headers?: Record<string, string> | undefined; signal?: AbortSignal | undefined },
): Request {
  const headers = { 'Content-Type': 'application/json', ...more.headers };
  return new Request(`http://agent.example${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    ...(more.signal === undefined ? {} : { signal: more.signal }),
  });
}

export const BINDINGS: readonly StreamBinding[] = [
  {
    name: 'JSON-RPC',
    open: (service, { headers, signal, ...options } = {}) =>
      serveJsonRpc(jsonPost('/a2a', rpc('SendStreamingMessage', v10Message('x')), { headers, signal }), service, options),
    subscribe: (service, headers) => serveJsonRpc(jsonPost('/a2a', rpc('SubscribeToTask', { id: 't1' }), { headers }), service),
  },
  {
    name: 'HTTP+JSON',
    open: (service, { headers, signal, ...options } = {}) =>
      serveRest(jsonPost('/message:stream', v10Message('x'), { headers, signal }), service, options),
    subscribe: (service, headers) => serveRest(jsonPost('/tasks/t1:subscribe', {}, { headers }), service),
  },
];

export const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
export const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

export async function* streamOnce(...batches: readonly (readonly Logged[])[]): AsyncGenerator<readonly Logged[], void> {
  yield* batches;
}
