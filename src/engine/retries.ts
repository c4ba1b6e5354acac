import type { CallContext, SendRequest, SendResult, Seq } from '#protocol';
import { A2AError } from '#protocol';
import { isSettled, ownerOf } from './admit.ts';
import type { Core } from './core.ts';
import { release } from './core.ts';
import type { Owner, SendRecord } from './ports.ts';

/**
 * A send that is repeated. It attaches to the first one's task when it carries an Idempotency-Key, when the first answer never
 * reached its caller, or always if the node is so configured; otherwise a repeat is a new send. The same key with another body
 * is a mistake of the caller.
 */
export async function onceOnly(core: Core, request: SendRequest, ctx: CallContext, agent: string, send: () => Promise<SendResult>): Promise<SendResult> {
  void isSettled;
  void release;
  void agent;
  const token = tokenOf(request, ctx);
  if (token === undefined) return send();
  const owner = ownerOf(ctx);
  const fingerprint = fingerprintOf(request);
  const first = await core.store.send(owner, token);
  const attaches = first !== undefined && (ctx.idempotencyKey !== undefined || !first.delivered || core.idempotency === 'messageId');
  if (attaches && first !== undefined) {
    if (first.fingerprint !== fingerprint) throw new A2AError('INVALID_PARAMS', 'this message id was used for another message', { field: 'message.messageId' });
    return answerOf(core, first);
  }
  const result = await send();
  core.writer.add({ kind: 'send', record: recordOf(owner, token, fingerprint, result) });
  return result;
}

function tokenOf(request: SendRequest, ctx: CallContext): string | undefined {
  return ctx.idempotencyKey ?? (request.message.messageId === '' ? undefined : request.message.messageId);
}

async function answerOf(_core: Core, first: SendRecord): Promise<SendResult> {
  if (first.answer !== undefined) return first.answer;
  throw new A2AError('INTERNAL_ERROR', undefined, { cause: new Error('a send without task or answer') });
}

function recordOf(owner: Owner, token: string, fingerprint: string, result: SendResult): SendRecord {
  return { owner, token, fingerprint, answer: result, delivered: false };
}

/** 53 bits over the message's JSON (cyrb53): enough to tell another body, cheap enough for every send. */
function fingerprintOf(request: SendRequest): string {
  const text = JSON.stringify([request.message, request.alias]);
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
}

export type { Seq };
