import type { Confidence, Hints } from '../dialect.ts';
import { tasksSendShape } from '../shared/tasks-send.ts';

/**
 * Society has one method, on `/`. There, every `tasks/send` without marks of 0.1 or SAM is Society's.
 */
export function detect(hints: Hints): Confidence {
  return hints.path === '/' && hints.method === 'tasks/send' && tasksSendShape(hints.params) === 'plain' ? 'shape' : 'no';
}
