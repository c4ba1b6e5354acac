import type { A2AService, CallContext, EventStream, SendRequest, Task, TaskId } from '#protocol';
import { isA2AError } from '#protocol';
import { isDirective } from './directive.ts';

/**
 * Sends swarm directives to `directives` (the service of a `swarmAgent`) and all other messages to the
 * agent itself. A message is a directive when its `metadata.swarmKind` is a string
 * (docs/dialects/cortex.md). Requests about a task go to the service that has it.
 *
 * ```ts
 * const service = registerSwarmHandler(engine.serviceOf('swarm'))(engine.serviceOf('main'));
 * ```
 */
export function registerSwarmHandler(directives: A2AService): (next: A2AService) => A2AService {
  return (next) => {
    const serviceFor = ({ message }: SendRequest): A2AService => (isDirective(message) ? directives : next);
    const either = async <T>(ask: (service: A2AService) => Promise<T>): Promise<T> => {
      try {
        return await ask(next);
      } catch (thrown) {
        if (!isUnknown(thrown)) throw thrown;
        return await ask(directives).catch((second: unknown) => {
          throw isUnknown(second) ? thrown : second;
        });
      }
    };
    return {
      ...next,
      send: (request, ctx) => serviceFor(request).send(request, ctx),
      stream: (request, ctx) => serviceFor(request).stream(request, ctx),
      get: (request, ctx) => either((service) => service.get(request, ctx)),
      cancel: (request, ctx) => either((service) => service.cancel(request, ctx)),
      subscribe: (request, ctx) => subscribe({ next, directives }, request, ctx),
      originOf: (task: TaskId, ctx: CallContext) => {
        const found = next.originOf?.(task, ctx);
        const other = (): ReturnType<NonNullable<A2AService['originOf']>> => directives.originOf?.(task, ctx);
        return found instanceof Promise ? found.then((dialect) => dialect ?? other()) : (found ?? other());
      },
    };
  };
}

interface Both {
  readonly next: A2AService;
  readonly directives: A2AService;
}

async function* subscribe({ next, directives }: Both, request: Parameters<A2AService['subscribe']>[0], ctx: CallContext): EventStreamOf {
  const owner = await ownerOf({ next, directives }, request.id, ctx);
  yield* owner.subscribe(request, ctx);
}

type EventStreamOf = AsyncGenerator<EventStream extends AsyncIterable<infer Batch> ? Batch : never>;

/** A stream can't be tried and abandoned, so the service that has the task is looked up first. */
async function ownerOf({ next, directives }: Both, id: Task['id'], ctx: CallContext): Promise<A2AService> {
  try {
    await next.get({ id, historyLength: 0 }, ctx);
    return next;
  } catch (thrown) {
    return isUnknown(thrown) ? directives : next;
  }
}

function isUnknown(thrown: unknown): boolean {
  return isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND';
}
