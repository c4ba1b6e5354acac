import type { A2AService, CallContext, SendRequest } from '#protocol';
import { eventInBytes, taskInBytes } from './events.ts';
import { toReferences } from './parts.ts';
import type { ArtifactService } from './service.ts';
import { withAnswers } from './with-answers.ts';

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
  const answering = withAnswers(link, {
    event: (event, ctx) => eventInBytes(artifacts, ownerOf(ctx), event),
    task: (task, ctx) => taskInBytes(artifacts, ownerOf(ctx), task),
  });
  return {
    ...answering,
    send: async (request, ctx) => await answering.send(await storeFiles(request, ctx), ctx),
    stream: async function* (request, ctx) {
      yield* answering.stream(await storeFiles(request, ctx), ctx);
    },
  };
}
