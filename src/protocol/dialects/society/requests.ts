import type { ExternalId } from '../../ids.ts';
import { messageId } from '../../ids.ts';
import type { Json } from '../../json.ts';
import type { SendRequest } from '../../requests.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from '../shared/read.ts';
import { fail, id, isRaw, list } from '../shared/read.ts';
import { readPart, writeParts } from './model.ts';

/**
 * Society's own checks, in its order and with its texts; `errors.ts` adds the prefix `invalid params:
 * `. To its Go server an absent or null member is an empty one.
 */
export function readSendRequest(raw: unknown, env: ReadEnv): SendRequest {
  const r = objectOr(raw, '');
  if (r.id === undefined || r.id === null || r.id === '') fail('id', 'task id is required');
  const alias = id<ExternalId>(r.id, 'id', env);
  const message = objectOr(r.message, 'message');
  if (message.role !== 'user') fail('message.role', 'message role must be "user"');
  const { parts } = message;
  checkParts(parts, env);
  return {
    message: { messageId: messageId(env.ids.next()), role: 'ROLE_USER', parts: list(parts, 'message.parts', readPart, env) },
    alias,
  };
}

function objectOr(raw: unknown, name: string): Raw {
  if (raw === undefined || raw === null) return {};
  return isRaw(raw) ? raw : fail(name, 'must be an object');
}

/** Throws with Society's own sentence, where it has one. */
function checkParts(parts: unknown, env: ReadEnv): void {
  if (parts !== undefined && parts !== null && !Array.isArray(parts)) fail('message.parts', 'must be an array');
  const all: readonly unknown[] = Array.isArray(parts) ? parts : [];
  if (all.length === 0) fail('message.parts', 'message must have at least one part');
  if (all.length > env.limits.messagePartsMax) fail('message.parts', `must have at most ${env.limits.messagePartsMax} parts`);
  for (let at = 0; at < all.length; at += 1) if (!hasType(all[at])) refuseType(all[at], at);
}

function hasType(part: unknown): boolean {
  return isRaw(part) && part.type !== undefined && part.type !== null && part.type !== '';
}

function refuseType(part: unknown, at: number): never {
  objectOr(part, `message.parts[${at}]`);
  return fail(`message.parts[${at}].type`, `part[${at}] type is required`);
}

/**
 * A caller without a name for its thread uses the id of its task or context, or else the message's id.
 */
export function threadOf({ alias, message }: SendRequest): string {
  return alias ?? message.taskId ?? message.contextId ?? message.messageId;
}

/** Only users send messages. */
export function writeSendRequest(request: SendRequest): Json {
  return { id: threadOf(request), message: { role: 'user', parts: writeParts(request.message.parts) } };
}
