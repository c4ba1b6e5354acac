import type { A2AService, CallContext, EventStream, Logged, SendRequest, TaskEvent } from '#protocol';
import { eventInBytes } from './events.ts';
import { toReferences } from './parts.ts';
import type { ArtifactService } from './service.ts';

/**
 * A link for those outside of the mesh, who can't follow `artifact://`: files that come are handed over as bytes, and large ones that go are
 * kept and go by reference (reference/dialects §4f, A2A proxy).
 */
export function withInlineFiles(link: A2AService, artifacts: ArtifactService, userOf: (ctx: CallContext) => string): A2AService {
  const ownerOf = (ctx: CallContext) => (session: string) => ({ app: 'gateway', user: userOf(ctx), session });
  const inside = async (request: SendRequest, ctx: CallContext): Promise<SendRequest> => {
    const owner = ownerOf(ctx)(request.message.contextId ?? request.message.messageId);
    return { ...request, message: { ...request.message, parts: await toReferences(artifacts, owner, request.message.parts) } };
  };
  const outside = (event: TaskEvent, ctx: CallContext): Promise<TaskEvent> => eventInBytes(artifacts, ownerOf(ctx), event);
  const stream = async function* (events: EventStream, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
    for await (const batch of events)
      yield await Promise.all(batch.map(async (logged) => ({ ...logged, event: await outside(logged.event, ctx) })));
  };
  const whole = async <T extends TaskEvent>(event: T, ctx: CallContext): Promise<T> => (await outside(event, ctx)) as T;
  return {
    ...link,
    send: async (request, ctx) => whole(await link.send(await inside(request, ctx), ctx), ctx),
    stream: (request, ctx) =>
      stream(
        (async function* () {
          yield* link.stream(await inside(request, ctx), ctx);
        })(),
        ctx,
      ),
    subscribe: (request, ctx) => stream(link.subscribe(request, ctx), ctx),
    get: async (request, ctx) => (await whole({ task: await link.get(request, ctx) }, ctx)).task,
  };
}

/** Somebody outside as a user of the mesh: a name that is also a level of an artifact's URI, and another one for everybody. */
export function defaultMeshUser(principal: string): string {
  const plain = encodeURIComponent(principal.toWellFormed()).replaceAll('~', '~7E').replaceAll('%3A', ':').replaceAll('%40', '@');
  return `http:${plain.replaceAll('%', '~').replaceAll('..', '.~2E')}`;
}
