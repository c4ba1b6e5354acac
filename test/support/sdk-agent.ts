import { setTimeout as sleep } from 'node:timers/promises';
import { formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS, TaskState } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { CARD } from './card.ts';
import type { Listening } from './listen.ts';
import { listenRaw } from './listen.ts';

/**
 * The official SDK's server on a socket. The SDK's HTTP layer is an Express router; this file replaces it (body, first event before the
 * headers, SSE). The SDK reads, dispatches and writes A2A.
 */
export async function sdkServer(): Promise<Listening> {
  const store = new InMemoryPushNotificationStore();
  const sender = { send: async () => undefined };
  const interfaces = ['1.0', '0.3'].map((protocolVersion) => ({
    url: 'http://agent.example/',
    protocolBinding: 'JSONRPC',
    protocolVersion,
    tenant: '',
  }));
  const card = { ...CARD, supportedInterfaces: interfaces } as never;
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new ScriptExecutor(), undefined, store, sender as never, card);
  const current = new JsonRpcTransportHandler(handler);
  const legacy = new LegacyJsonRpcTransportHandler(handler);
  return await listenRaw(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    const requestedVersion = String(incoming.headers['a2a-version'] ?? '0.3');
    const context = new ServerCallContext({ requestedVersion });
    const answer = await (requestedVersion === '1.0' ? current : legacy).handle(request, context);
    const fail =
      requestedVersion === '1.0' ? JsonRpcTransportHandler.mapToJSONRPCError : LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError;
    const errorOf = (thrown: unknown): object => ({ jsonrpc: '2.0', id: request['id'] ?? null, error: fail(thrown) });
    const json = (value: unknown): void => void outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    if (!(Symbol.asyncIterator in answer)) return json(answer);
    const events = answer[Symbol.asyncIterator]();
    try {
      let next = await events.next();
      outgoing.writeHead(200, SSE_HEADERS);
      for (; next.done !== true; next = await events.next()) outgoing.write(formatSSEEvent(next.value));
    } catch (thrown) {
      if (!outgoing.headersSent) return json(errorOf(thrown));
      outgoing.write(formatSSEErrorEvent(errorOf(thrown)));
    }
    outgoing.end();
  });
}

class ScriptExecutor implements AgentExecutor {
  readonly #canceled = new Set<string>();

  readonly execute = async ({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const text = userMessage.parts.map((part) => (part.content?.$case === 'text' ? part.content.value : '')).join(' ');
    const status = (state: TaskState): void => {
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: this.#status(state), metadata: undefined }));
    };
    if (text.includes('message')) {
      const parts = [{ content: { $case: 'text' as const, value: 'said directly' }, metadata: undefined, filename: '', mediaType: '' }];
      bus.publish(AgentEvent.message({ ...userMessage, messageId: 'said', role: 2, parts, contextId, taskId: '' }));
      return bus.finished();
    }
    const task = { id: taskId, contextId, status: this.#status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage] };
    bus.publish(AgentEvent.task({ ...task, metadata: undefined }));
    status(TaskState.TASK_STATE_WORKING);
    while (text.includes('hang') && !this.#canceled.has(taskId)) await sleep(5);
    if (this.#canceled.has(taskId)) status(TaskState.TASK_STATE_CANCELED);
    else if (text.includes('ask')) status(TaskState.TASK_STATE_INPUT_REQUIRED);
    else {
      for (const at of [1, 2, 3]) this.#chunk(bus, { taskId, contextId, at });
      status(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  };

  readonly cancelTask = async (taskId: string): Promise<void> => {
    this.#canceled.add(taskId);
  };

  #status(state: TaskState): { state: TaskState; message: undefined; timestamp: string } {
    return { state, message: undefined, timestamp: '2026-03-12T00:00:00.000Z' };
  }

  #chunk(bus: ExecutionEventBus, { taskId, contextId, at }: { taskId: string; contextId: string; at: number }): void {
    const part = { content: { $case: 'text' as const, value: `chunk ${at}` }, metadata: undefined, filename: '', mediaType: '' };
    const artifact = { artifactId: 'a', name: 'out', description: '', parts: [part], metadata: undefined, extensions: [] };
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: at > 1, lastChunk: at === 3, metadata: undefined }));
  }
}
