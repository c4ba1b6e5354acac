import type { A2AService, CallContext, EventStream, Logged, Task, TaskEvent } from '#protocol';

/** How the answers of a link are changed. */
export interface AnswerChange {
  event(event: TaskEvent, ctx: CallContext): Promise<TaskEvent>;
  task(task: Task, ctx: CallContext): Promise<Task>;
}

/** Changes everything that a link answers, wherever tasks and events come from. */
export function withAnswers(link: A2AService, change: AnswerChange): A2AService {
  const changed = async function* (events: EventStream, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
    for await (const batch of events)
      yield await Promise.all(batch.map(async (logged) => ({ ...logged, event: await change.event(logged.event, ctx) })));
  };
  return {
    ...link,
    send: async (request, ctx) => {
      const result = await link.send(request, ctx);
      return result.task === undefined ? result : { task: await change.task(result.task, ctx) };
    },
    stream: (request, ctx) => changed(link.stream(request, ctx), ctx),
    subscribe: (request, ctx) => changed(link.subscribe(request, ctx), ctx),
    get: async (request, ctx) => change.task(await link.get(request, ctx), ctx),
  };
}
