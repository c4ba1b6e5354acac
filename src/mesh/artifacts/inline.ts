import type { A2AService, CallContext, EventStream, Logged, SendRequest, TaskEvent } from '#protocol';
import { eventInBytes, taskInBytes } from './events.ts';
import { toReferences } from './parts.ts';
import type { ArtifactService } from './service.ts';

/**
 * Wraps a link for callers outside of the mesh, who can't read `artifact://` URLs. Files in responses
 * are replaced by their bytes; large files in requests are stored and replaced by references
 * (docs/dialects/sam.md, A2A proxy).
 */
export function withInlineFiles(link: A2AService, artifacts: ArtifactService, userOf: (ctx: CallContext) => string): A2AService {
  const ownerOf = (ctx: CallContext) => (session: string) => ({ app: 'gateway', user: userOf(ctx), session });
  const storeFiles = async (request: SendRequest, ctx: CallContext): Promise<SendRequest> => {
    const owner = ownerOf(ctx)(request.message.contextId ?? request.message.messageId);
    return { ...request, message: { ...request.message, parts: await toReferences(artifacts, { owner }, request.message.parts) } };
  };
  const loadFiles = (event: TaskEvent, ctx: CallContext): Promise<TaskEvent> => eventInBytes(artifacts, ownerOf(ctx), event);
  const stream = async function* (events: EventStream, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
    for await (const batch of events)
      yield await Promise.all(batch.map(async (logged) => ({ ...logged, event: await loadFiles(logged.event, ctx) })));
  };
  return {
    ...link,
    send: async (request, ctx) => {
      const result = await link.send(await storeFiles(request, ctx), ctx);
      return result.task === undefined ? result : { task: await taskInBytes(artifacts, ownerOf(ctx), result.task) };
    },
    stream: (request, ctx) =>
      stream(
        (async function* () {
          yield* link.stream(await storeFiles(request, ctx), ctx);
        })(),
        ctx,
      ),
    subscribe: (request, ctx) => stream(link.subscribe(request, ctx), ctx),
    get: async (request, ctx) => taskInBytes(artifacts, ownerOf(ctx), await link.get(request, ctx)),
  };
}
