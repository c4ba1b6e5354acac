import type { A2AService, CallContext, SendRequest } from '#protocol';
import type { ClientOptions } from '../options.ts';

/** Sends the message id as `Idempotency-Key`, so that the server recognises a repeated message. */
export function withIdempotencyKeys(next: A2AService, { idempotencyKeys = true }: ClientOptions): A2AService {
  if (!idempotencyKeys) return next;
  const withKey = (ctx: CallContext, { message }: SendRequest): CallContext =>
    ctx.idempotencyKey !== undefined || message.messageId === '' ? ctx : { ...ctx, idempotencyKey: message.messageId };
  return {
    ...next,
    send: (request, ctx) => next.send(request, withKey(ctx, request)),
    stream: (request, ctx) => next.stream(request, withKey(ctx, request)),
  };
}
