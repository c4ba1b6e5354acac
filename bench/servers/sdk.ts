import type { AddressInfo } from 'node:net';
import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

/** The baseline with the official SDK, as its documentation serves it: Express, tasks in memory. `chunks=N` streams N chunks. */
class Echo implements AgentExecutor {
  readonly execute = async ({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const [first] = userMessage.parts;
    const text = first?.content?.$case === 'text' ? first.content.value : '';
    const chunks = Number(/chunks=(\d+)/.exec(text)?.[1] ?? 1);
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: new Date().toISOString() });
    const begun = {
      id: taskId,
      contextId,
      status: status(TaskState.TASK_STATE_WORKING),
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    };
    bus.publish(AgentEvent.task(begun));
    for (let at = 0; at < chunks; at += 1) {
      const part = { content: { $case: 'text' as const, value: 'x'.repeat(32) }, metadata: undefined, filename: '', mediaType: '' };
      const artifact = { artifactId: 'a', name: '', description: '', parts: [part], metadata: undefined, extensions: [] };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: at > 0, lastChunk: false, metadata: undefined }));
      if (at % 64 === 63) await new Promise((resolve) => setImmediate(resolve));
    }
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(TaskState.TASK_STATE_COMPLETED), metadata: undefined }));
    bus.finished();
  };

  readonly cancelTask = async (): Promise<void> => undefined;
}

const card = {
  name: 'echo',
  description: 'echo',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
};
const handler = new DefaultRequestHandler(card as never, new InMemoryTaskStore(), new Echo());
const app = express();
app.use('/', jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }));
const server = app.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })),
);
