import type { Confidence, Hints } from '../dialect.ts';
import { tasksSendShape } from '../shared/tasks-send.ts';

/** Society lives at `/` and has one method. There it owns every `tasks/send` that neither 0.1 nor SAM can call its own. */
export function detect(hints: Hints): Confidence {
  return hints.path === '/' && hints.method === 'tasks/send' && tasksSendShape(hints.params) === 'plain' ? 'shape' : 'no';
}
