import { requestText } from '#bindings';
import type { CallContext, Task, TaskId } from '#protocol';
import { isTerminal } from '#protocol';
import type { SamResponse } from './inbox.ts';
import type { SamLinkContext } from './link-context.ts';
import { propertiesFor } from './link-context.ts';
import { getAgentRequestTopic } from './topics.ts';

interface Asking {
  readonly method: string;
  readonly id: TaskId;
  readonly ctx: CallContext;
  /** The end of the task itself is an answer too. */
  readonly alsoHears?: true;
}

/** Agents that know no such method are silent. */
const ANSWER_MS_MAX = 2000;

/** Asks the replica that has the task; or any, which passes it on. Undefined: nobody answered. */
export async function ask(linked: SamLinkContext, { method, id, ctx, alsoHears }: Asking): Promise<Task | undefined> {
  const { place, inbox, options } = linked;
  const rpcId = `ask-${place.ids.next()}`;
  const answer = Promise.withResolvers<Task | undefined>();
  const hear = ({ event, error }: SamResponse): void => {
    if (error !== undefined) answer.reject(error);
    else answer.resolve(event?.task);
  };
  const stops = [inbox.listen(rpcId, hear)];
  if (alsoHears === true) {
    stops.push(
      inbox.listen(id, ({ event }) => {
        if (event?.task !== undefined && isTerminal(event.task.status.state)) answer.resolve(event.task);
      }),
    );
  }
  const timer = setTimeout(() => answer.resolve(undefined), ANSWER_MS_MAX);
  const leave = (): void => answer.resolve(undefined);
  ctx.signal.addEventListener('abort', leave, { once: true });
  try {
    await place.broker.publish({
      topic: inbox.instanceOf(id) ?? getAgentRequestTopic(place.namespace, options.agent),
      payload: new TextEncoder().encode(requestText(rpcId, method, { id })),
      properties: { ...propertiesFor(linked, ctx), replyTo: inbox.responseTopic(rpcId) },
      contentType: 'application/json',
      expiryMs: ANSWER_MS_MAX,
    });
    return await answer.promise;
  } finally {
    clearTimeout(timer);
    ctx.signal.removeEventListener('abort', leave);
    for (const stop of stops) stop();
  }
}
