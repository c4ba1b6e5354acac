import type { AgentExecutor, ExecutionEventBus, RequestContext } from 'a2a-js-03/server';
import { behave } from '../behaviour.ts';

/**
 * The executor of coding-agent-a2a 0.1.0 with its map of events: a working status, then an artifact `assistant-response` with a new id and
 * `append: true` for every chunk, `input-required` without `final` for an approval while the stream stays open, and at the end the completed status
 * before the artifact `result`, which streams therefore never see.
 */
export class CodingExecutor implements AgentExecutor {
  readonly #canceled = new Set<string>();
  readonly #contexts = new Map<string, string>();
  /** Runs that wait for an answer, by task and by context. */
  readonly #waiting = new Map<string, (answer: string) => void>();

  readonly execute = async ({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const text = userMessage.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    const resume = this.#waiting.get(taskId);
    if (resume !== undefined) {
      this.#waiting.delete(taskId);
      return resume(text);
    }
    const ids = { taskId, contextId };
    const timestamp = new Date().toISOString();
    this.#contexts.set(taskId, contextId);
    const update = (state: string, final: boolean, said?: string): void => {
      const message = { kind: 'message', role: 'agent', messageId: crypto.randomUUID(), parts: [{ kind: 'text', text: said }], ...ids };
      const status = { state, timestamp, ...(said === undefined ? {} : { message }) };
      bus.publish({ kind: 'status-update', ...ids, status, final } as never);
    };
    const artifact = (name: string, part: object, append?: true): void => {
      const made = { artifactId: crypto.randomUUID(), name, parts: [part] };
      bus.publish({ kind: 'artifact-update', ...ids, artifact: made, ...(append === undefined ? {} : { append }) } as never);
    };
    if (task === undefined)
      bus.publish({
        kind: 'task',
        id: taskId,
        contextId,
        status: { state: 'submitted', timestamp },
        history: [userMessage],
        artifacts: [],
      });
    update('working', false);
    let summary = '';
    await behave(
      { text, ...ids, isCanceled: () => this.#canceled.has(taskId) },
      {
        text: (chunk) => {
          summary += chunk;
          artifact('assistant-response', { kind: 'text', text: chunk }, true);
        },
        approve: (question) => {
          update('input-required', false, `Approve: ${question}`);
          return new Promise((resolve) => this.#waiting.set(taskId, resolve));
        },
        ask: (question) => update('input-required', true, question),
        fail: (reason) => update('failed', true, reason),
        echo: () => {},
        complete: () => {
          update('completed', true);
          artifact('result', { kind: 'data', data: { summary } });
        },
        canceled: () => {}, // `cancelTask` has published it
      },
    );
    bus.finished();
  };

  /** Its canceled event carries the task's id as the context. */
  readonly cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    this.#canceled.add(taskId);
    const status = { state: 'canceled', timestamp: new Date().toISOString() } as const;
    bus.publish({ kind: 'status-update', taskId, contextId: taskId, status, final: true });
    bus.finished();
  };
}
