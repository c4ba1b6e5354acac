import type { Part } from '@a2a-js/sdk';
import { Role, TaskState } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { AgentEvent } from '@a2a-js/sdk/server';
import { behave } from '../behaviour.ts';

/** The test agent in the types of @a2a-js/sdk 1.x. */
export class CurrentExecutor implements AgentExecutor {
  readonly #canceled = new Set<string>();

  readonly execute = async ({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const ids = { taskId, contextId };
    const status = (state: TaskState, text?: string) => ({
      state,
      message:
        text === undefined
          ? undefined
          : { ...userMessage, ...ids, messageId: crypto.randomUUID(), role: Role.ROLE_AGENT, parts: [textPart(text)] },
      timestamp: new Date().toISOString(),
    });
    const update = (...told: Parameters<typeof status>): void =>
      bus.publish(AgentEvent.statusUpdate({ ...ids, status: status(...told), metadata: undefined }));
    const send = (parts: Part[], append: boolean): void => {
      const artifact = { artifactId: 'answer', name: '', description: '', parts, metadata: undefined, extensions: [] };
      bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact, append, lastChunk: false, metadata: undefined }));
    };
    const begun = { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined };
    // Their handler refuses a stream whose first event is not a task or a message.
    bus.publish(AgentEvent.task(task ?? { ...begun, status: status(TaskState.TASK_STATE_SUBMITTED) }));
    update(TaskState.TASK_STATE_WORKING);
    const text = userMessage.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
    await behave(
      { text, ...ids, isCanceled: () => this.#canceled.has(taskId) },
      {
        text: (chunk, isFirst) => send([textPart(chunk)], !isFirst),
        ask: (question) => update(TaskState.TASK_STATE_INPUT_REQUIRED, question),
        signIn: (request) => update(TaskState.TASK_STATE_AUTH_REQUIRED, request),
        fail: (reason) => update(TaskState.TASK_STATE_FAILED, reason),
        echo: () =>
          send(
            userMessage.parts.filter(({ content }) => content?.$case !== 'text'),
            false,
          ),
        complete: () => update(TaskState.TASK_STATE_COMPLETED),
        canceled: () => update(TaskState.TASK_STATE_CANCELED),
      },
    );
    bus.finished();
  };

  readonly cancelTask = async (taskId: string): Promise<void> => void this.#canceled.add(taskId);
}

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' };
}
