import type { Confidence, Hints } from '../dialect.ts';
import type { Raw } from '../shared/read.ts';
import { isRaw } from '../shared/read.ts';

/**
 * Over HTTP, only SAM's documented spelling is recognised. `message/*` belongs to 0.3 and PromptKit
 * there. `tasks/cancel` looks the same in several dialects; it counts as SAM only if SAM created the
 * task. On a broker every message is SAM, and this function finds the spelling.
 */
export function detectDocumented(hints: Hints): Confidence {
  if (hints.method === 'tasks/send-streaming') return 'shape';
  if (hints.method === 'tasks/cancel') return 'grammar';
  if (hints.method !== 'tasks/send' || !isRaw(hints.params)) return 'no';
  const { message, id } = hints.params;
  if (!isRaw(message)) return 'no';
  // 0.1 and Society have the task's id in the params, and the earliest 0.1 lets `type` be left out.
  return isSnake(message) || (id === undefined && hasBareParts(message.parts)) ? 'shape' : 'no';
}

function isSnake(message: Raw): boolean {
  return message.message_id !== undefined || message.context_id !== undefined || message.task_id !== undefined;
}

function hasBareParts(parts: unknown): boolean {
  return Array.isArray(parts) && parts.length > 0 && parts.every((part) => isRaw(part) && part.type === undefined);
}
