import type { Json } from '../../json.ts';
import type { Task } from '../../task.ts';
import type { WebhookForm } from '../dialect.ts';

/**
 * The whole task as JSON for each event, as in every version before 1.0 (A2A 0.3.0 §9.5, Google's
 * samples of 0.1).
 */
export function taskWebhook(write: (task: Task) => Json): WebhookForm {
  return {
    carries: 'task',
    mediaType: 'application/json',
    write: ({ task }) => {
      if (task === undefined) throw new TypeError('a webhook of this version is given tasks');
      return write(task);
    },
  };
}
