import type { EventStream, SendRequest, SendResult, Task } from '#protocol';
import { A2AError, foldEvent } from '#protocol';

interface Answering {
  readonly request: SendRequest;
  /** By name, for the error. */
  readonly agent: string;
}

/** The answer to a send over a broker, where every answer is a stream: what its events come to, or only the first of them. */
export async function answerFrom(events: EventStream, { request, agent }: Answering): Promise<SendResult> {
  let task: Task | undefined;
  for await (const batch of events) {
    for (const { event } of batch) {
      if (event.message !== undefined) return { message: event.message };
      task = foldEvent(task, event);
    }
    if (request.configuration?.returnImmediately === true) break;
  }
  if (task === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `${agent} said nothing`);
  return { task };
}
