/**
 * State of a task (A2A 1.0.1 §4.1.3). `TASK_STATE_UNSPECIFIED` is called `unknown` in 0.x. Parley
 * accepts it from peers and never sets it.
 */
export type TaskState =
  | 'TASK_STATE_UNSPECIFIED'
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_REJECTED'
  | 'TASK_STATE_AUTH_REQUIRED';

type Phase = 'open' | 'waiting' | 'terminal';

const WORKING: readonly TaskState[] = [
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
];

/**
 * The state machine of tasks. No A2A version publishes one. This one allows every sequence that the
 * five products and the official SDKs produce, and nothing after a terminal state (§3.1.1). A state may
 * repeat; each repetition is a progress message.
 */
export const TASK_STATES: Readonly<Record<TaskState, { readonly phase: Phase; readonly next: readonly TaskState[] }>> = {
  TASK_STATE_UNSPECIFIED: { phase: 'open', next: ['TASK_STATE_SUBMITTED', ...WORKING] },
  TASK_STATE_SUBMITTED: { phase: 'open', next: ['TASK_STATE_SUBMITTED', ...WORKING] },
  TASK_STATE_WORKING: { phase: 'open', next: WORKING },
  TASK_STATE_INPUT_REQUIRED: { phase: 'waiting', next: WORKING },
  TASK_STATE_AUTH_REQUIRED: { phase: 'waiting', next: WORKING },
  TASK_STATE_COMPLETED: { phase: 'terminal', next: [] },
  TASK_STATE_FAILED: { phase: 'terminal', next: [] },
  TASK_STATE_CANCELED: { phase: 'terminal', next: [] },
  TASK_STATE_REJECTED: { phase: 'terminal', next: [] },
};

/** States in the order of their numbers in a2a.proto. */
export const TASK_STATES_BY_NUMBER: readonly TaskState[] = [
  'TASK_STATE_UNSPECIFIED',
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
];

/**
 * Whether the task is over: completed, failed, canceled or rejected. It never changes again.
 *
 * ```ts
 * isTerminal('TASK_STATE_COMPLETED'); // true
 * isTerminal('TASK_STATE_INPUT_REQUIRED'); // false
 * ```
 */
export function isTerminal(state: TaskState): boolean {
  return TASK_STATES[state].phase === 'terminal';
}

/**
 * Whether the task waits for its caller: input-required or auth-required. A2A calls these interrupted.
 */
export function isInterrupted(state: TaskState): boolean {
  return TASK_STATES[state].phase === 'waiting';
}

/** Whether a task may change from one state to the other. */
export function mayFollow(from: TaskState, to: TaskState): boolean {
  return TASK_STATES[from].next.includes(to);
}
