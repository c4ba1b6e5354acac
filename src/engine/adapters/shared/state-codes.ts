import type { TaskState } from '#protocol';
import { entriesOf } from '#protocol';

/** The numbers of states on disk. A number never changes its meaning. Finished states come last. */
const CODES: Readonly<Record<TaskState, number>> = {
  TASK_STATE_UNSPECIFIED: 0,
  TASK_STATE_SUBMITTED: 1,
  TASK_STATE_WORKING: 2,
  TASK_STATE_INPUT_REQUIRED: 3,
  TASK_STATE_AUTH_REQUIRED: 4,
  TASK_STATE_COMPLETED: 5,
  TASK_STATE_FAILED: 6,
  TASK_STATE_CANCELED: 7,
  TASK_STATE_REJECTED: 8,
};

const STATES: ReadonlyMap<number, TaskState> = new Map(entriesOf(CODES).map(([state, code]) => [code, state]));

export const ALL_CODES: readonly number[] = Object.values(CODES);
export const WAITING_CODES: readonly number[] = [CODES.TASK_STATE_INPUT_REQUIRED, CODES.TASK_STATE_AUTH_REQUIRED];
export const FIRST_FINISHED: number = CODES.TASK_STATE_COMPLETED;
export const FINISHED_CODES: readonly number[] = ALL_CODES.filter((code) => code >= FIRST_FINISHED);

/** The number of a state on disk. */
export function codeOf(state: TaskState): number {
  return CODES[state];
}

/** The state of a number. Undefined for a number that no version wrote, that is, for damage. */
export function stateOf(code: number): TaskState | undefined {
  return STATES.get(code);
}
