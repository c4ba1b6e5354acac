import type { EventStream, Logged, Task } from '#protocol';
import { A2AError, foldEvent } from '#protocol';
import { isSettled } from './events.ts';

/** How a grammar publishes the events of a stream. */
export interface StreamPublisher {
  /**
   * The grammar can carry a direct Message. Otherwise it is an error, as is any answer without a task.
   */
  readonly acceptsMessages: boolean;
  /** `task` is given with the last batch, when the task is settled. */
  publish(events: readonly Logged[], task?: Task): Promise<void>;
  publishError(error: A2AError): Promise<void>;
}

/**
 * Publishes the events of a stream as they come, for services that keep no replies (a proxy without an
 * engine, a mock) and for subscribers. Resolves with the first event. Later events are lost if this
 * process dies; the caller then asks for the task.
 */
export async function followStream(events: EventStream, publisher: StreamPublisher): Promise<void> {
  const first = Promise.withResolvers<void>();
  void follow(events, publisher, first.resolve).then(first.resolve, first.reject);
  await first.promise;
}

/**
 * Publishes each batch when the next one arrives. The last one is published together with the task.
 */
async function follow(events: EventStream, publisher: StreamPublisher, onFirst: () => void): Promise<void> {
  let task: Task | undefined;
  let hasBegun = false;
  try {
    let held: readonly Logged[] = [];
    for await (const batch of events) {
      if (held.length > 0) await publisher.publish(held);
      for (const { event } of batch) task = event.message !== undefined && publisher.acceptsMessages ? undefined : foldEvent(task, event);
      held = batch; // the last batch is published together with the task
      if (!hasBegun) onFirst();
      hasBegun = true;
    }
    if (!hasBegun) throw new A2AError('INVALID_AGENT_RESPONSE', 'the agent sent no events');
    await publisher.publish(held, task !== undefined && isSettled(task) ? task : undefined);
  } catch (thrown) {
    if (!hasBegun) throw thrown;
    await publisher.publishError(A2AError.from(thrown)).catch(() => undefined);
  }
}
