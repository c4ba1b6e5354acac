import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { AgentEvent } from '@a2a-js/sdk/server';

/** The echo agent of the official SDK. `chunks=N` streams N chunks. */
export class SdkEcho implements AgentExecutor {
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

export const SDK_CARD: object = {
  name: 'echo',
  description: 'echo',
  version: '1.0.0',
  supportedInterfaces: [
    { url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
    { url: '127.0.0.1:1', protocolBinding: 'GRPC', protocolVersion: '1.0', tenant: '' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
};
