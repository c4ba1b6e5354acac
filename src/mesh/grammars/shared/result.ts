import type { EventStream, SendRequest, SendResult, Task } from '#protocol';
import { A2AError, foldEvent } from '#protocol';

interface Expecting {
  readonly request: SendRequest;
  /** The agent's name, for the error. */
  readonly agent: string;
}

/**
 * The result of a send over a broker, where every response is a stream: the folded events, or only the
 * first of them.
 */
export async function resultFrom(events: EventStream, { request, agent }: Expecting): Promise<SendResult> {
  let task: Task | undefined;
  for await (const batch of events) {
    for (const { event } of batch) {
      if (event.message !== undefined) return { message: event.message };
      task = foldEvent(task, event);
    }
    if (request.configuration?.returnImmediately === true) break;
  }
  if (task === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `${agent} sent no events`);
  return { task };
}
