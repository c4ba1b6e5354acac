import type { Confidence, Hints } from '../dialect.ts';
import type { TasksSend } from '../shared/tasks-send.ts';
import { tasksSendShape } from '../shared/tasks-send.ts';

/**
 * Method names that only 0.1 has, and names that 0.2 and 0.3 kept. For the latter, the dialect in which
 * the task was made decides.
 */
const METHODS: ReadonlyMap<string | undefined, Confidence> = new Map<string | undefined, Confidence>([
  ['tasks/sendSubscribe', 'shape'],
  ['tasks/pushNotification/set', 'shape'],
  ['tasks/pushNotification/get', 'shape'],
  ['tasks/get', 'grammar'],
  ['tasks/cancel', 'grammar'],
  ['tasks/resubscribe', 'grammar'],
]);

const SEND: Readonly<Record<TasksSend, Confidence>> = { 'v01-marks': 'shape', plain: 'grammar', foreign: 'no' };

/** How sure 0.1 is that a request is its own. */
export function detect(hints: Hints): Confidence {
  return hints.method === 'tasks/send' ? SEND[tasksSendShape(hints.params)] : (METHODS.get(hints.method) ?? 'no');
}
