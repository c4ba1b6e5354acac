import type { Confidence, Hints } from '../dialect.ts';
import { isRaw } from '../shared/read.ts';

/**
 * `kind` on the message or a part marks 0.3. PromptKit has the same method names and never sends it.
 */
export function hasKind(params: unknown): boolean {
  const message = isRaw(params) ? params.message : undefined;
  if (!isRaw(message)) return false;
  if (typeof message.kind === 'string') return true;
  return Array.isArray(message.parts) && message.parts.some((part: unknown) => isRaw(part) && typeof part.kind === 'string');
}

const BY_TASK: ReadonlySet<unknown> = new Set(['tasks/get', 'tasks/cancel', 'tasks/resubscribe']);

/**
 * `{taskId}` where the specification has `{id}`: the spelling of coding-agent-a2a's document, which
 * also describes other results.
 */
export function saysTaskId({ method, params }: Hints): boolean {
  return BY_TASK.has(method) && isRaw(params) && typeof params.taskId === 'string' && params.id === undefined;
}

const REST_PATH = /^\/v1\/(?:message:(?:send|stream)|tasks|card)(?:$|[/?:])/;

/** HTTP+JSON has no method and is recognised by its paths. */
export function detectRest({ method, path }: Hints): Confidence {
  return method === undefined && path !== undefined && REST_PATH.test(path) ? 'path' : 'no';
}
