import { requestText } from '#bindings';
import type { CallContext, Task, TaskId } from '#protocol';
import { isTerminal } from '#protocol';
import { encode, JSON_TYPE } from '../shared/messages.ts';
import type { SamResponse } from './inbox.ts';
import type { SamLinkContext } from './link-context.ts';
import { propertiesFor } from './link-context.ts';
import { getAgentRequestTopic } from './topics.ts';

interface TaskQuery {
  readonly method: string;
  readonly id: TaskId;
  readonly ctx: CallContext;
  /** A final response to the task itself counts as the response to this query. */
  readonly acceptsFinalTask?: true;
}

/** Agents that do not have the method send nothing. */
const RESPONSE_MS_MAX = 2000;

/**
 * Sends a request about a task to the replica that has it, or to any replica, which passes it on.
 * Undefined: no response.
 */
export async function queryTask(link: SamLinkContext, { method, id, ctx, acceptsFinalTask }: TaskQuery): Promise<Task | undefined> {
  const { mesh, inbox, options } = link;
  const rpcId = `ask-${mesh.ids.next()}`;
  const response = Promise.withResolvers<Task | undefined>();
  const receive = ({ event, error }: SamResponse): void => {
    if (error !== undefined) response.reject(error);
    else response.resolve(event?.task);
  };
  const stops = [inbox.listen(rpcId, receive)];
  if (acceptsFinalTask === true) {
    stops.push(
      inbox.listen(id, ({ event }) => {
        if (event?.task !== undefined && isTerminal(event.task.status.state)) response.resolve(event.task);
      }),
    );
  }
  const giveUp = (): void => response.resolve(undefined);
  const timer = setTimeout(giveUp, RESPONSE_MS_MAX);
  ctx.signal.addEventListener('abort', giveUp, { once: true });
  try {
    await mesh.broker.publish({
      topic: inbox.instanceOf(id) ?? getAgentRequestTopic(mesh.namespace, options.agent),
      payload: encode(requestText(rpcId, method, { id })),
      properties: { ...propertiesFor(link, ctx), replyTo: inbox.responseTopic(rpcId) },
      contentType: JSON_TYPE,
      expiryMs: RESPONSE_MS_MAX,
    });
    return await response.promise;
  } finally {
    clearTimeout(timer);
    ctx.signal.removeEventListener('abort', giveUp);
    for (const stop of stops) stop();
  }
}
