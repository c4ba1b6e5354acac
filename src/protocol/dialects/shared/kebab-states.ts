import { entriesOf } from '../../members.ts';
import type { TaskState } from '../../states.ts';

/** The states by their names in 0.2 and 0.3 (A2A 0.3.0 §6.3), which several products use too. */
export const KEBAB_NAMES: Readonly<Record<TaskState, string>> = {
  TASK_STATE_UNSPECIFIED: 'unknown',
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_REJECTED: 'rejected',
  TASK_STATE_AUTH_REQUIRED: 'auth-required',
};

/** The states by these names, including a common misspelling. */
export const KEBAB_STATES: ReadonlyMap<unknown, TaskState> = new Map<unknown, TaskState>([
  ...entriesOf(KEBAB_NAMES).map(([state, name]) => [name, state] as const),
  ['cancelled', 'TASK_STATE_CANCELED'], // agents send both spellings
]);
