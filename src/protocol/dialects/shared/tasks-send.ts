import type { Raw } from './read.ts';
import { isRaw } from './read.ts';

/**
 * Three dialects have `tasks/send`. 0.1 and Society name the task in `params.id` and have a `type` on
 * parts; members that Society lacks mark 0.1. SAM's documents write the message in snake_case, or name
 * no task and no types.
 */
export type TasksSend = 'v01-marks' | 'plain' | 'foreign';

/** Which dialect a `tasks/send` request belongs to, by its shape. */
export function tasksSendShape(params: unknown): TasksSend {
  if (!isRaw(params)) return 'plain';
  const message = isRaw(params.message) ? params.message : {};
  const parts: readonly unknown[] = Array.isArray(message.parts) ? message.parts : [];
  if (isForeign(params, message, parts)) return 'foreign';
  return hasV01Marks(params) || message.metadata !== undefined || parts.some(isV01Part) ? 'v01-marks' : 'plain';
}

function isForeign(params: Raw, message: Raw, parts: readonly unknown[]): boolean {
  if (message.message_id !== undefined || message.context_id !== undefined || message.task_id !== undefined) return true;
  return params.id === undefined && parts.length > 0 && parts.every((part) => isRaw(part) && part.type === undefined);
}

/** Whether a `tasks/send` has members that only A2A 0.1 has. */
function hasV01Marks(params: Raw): boolean {
  return (
    params.sessionId !== undefined ||
    params.metadata !== undefined ||
    params.historyLength !== undefined ||
    params.pushNotification !== undefined ||
    params.acceptedOutputModes !== undefined
  );
}

function isV01Part(part: unknown): boolean {
  return isRaw(part) && (part.type === 'file' || part.file !== undefined || part.metadata !== undefined);
}
