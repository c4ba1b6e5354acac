import { setTimeout as sleep } from 'node:timers/promises';
import { behave } from '../behaviour.ts';

interface KindContext {
  readonly taskId: string;
  readonly contextId: string;
  readonly userMessage: { readonly parts: readonly { readonly kind: string; readonly text?: string }[] };
  readonly task?: unknown;
}

interface KindBus {
  publish(event: object): void;
  finished(): void;
}

/** The test agent in the types of @a2a-js/sdk 0.2 and 0.3, whose events have a `kind`. */
export class KindExecutor {
  readonly #canceled = new Set<string>();
  readonly #contexts = new Map<string, string>();

  readonly execute = async ({ taskId, contextId, userMessage, task }: KindContext, bus: KindBus): Promise<void> => {
    const ids = { taskId, contextId };
    this.#contexts.set(taskId, contextId);
    const status = (state: string, text?: string) => ({
      state,
      ...(text === undefined
        ? {}
        : { message: { kind: 'message', role: 'agent', messageId: crypto.randomUUID(), parts: [{ kind: 'text', text }], ...ids } }),
      timestamp: new Date().toISOString(),
    });
    const update = (state: string, final: boolean, text?: string): void =>
      bus.publish({ kind: 'status-update', ...ids, status: status(state, text), final });
    const send = (parts: readonly object[], append: boolean): void =>
      bus.publish({ kind: 'artifact-update', ...ids, artifact: { artifactId: 'answer', parts }, append, lastChunk: false });
    if (task === undefined)
      bus.publish({ kind: 'task', id: taskId, contextId, status: status('submitted'), artifacts: [], history: [userMessage] });
    update('working', false);
    await behave(
      { text: userMessage.parts.map(({ text = '' }) => text).join(''), ...ids, isCanceled: () => this.#canceled.has(taskId) },
      {
        text: (chunk, isFirst) => send([{ kind: 'text', text: chunk }], !isFirst),
        ask: (question) => update('input-required', true, question),
        signIn: (request) => update('auth-required', true, request),
        fail: (reason) => update('failed', true, reason),
        echo: () =>
          send(
            userMessage.parts.filter(({ kind }) => kind !== 'text'),
            false,
          ),
        complete: () => update('completed', true),
        canceled: () => {}, // `cancelTask` has published it
      },
    );
    bus.finished();
  };

  readonly cancelTask = async (taskId: string, bus: KindBus): Promise<void> => {
    this.#canceled.add(taskId);
    bus.publish({ kind: 'status-update', taskId, contextId: this.#contexts.get(taskId), status: { state: 'canceled' }, final: true });
    await sleep(50); // the handler of 0.2 answers with the task as it is stored when this returns
  };
}
