import type { Codes } from '../shared/errors.ts';

/**
 * A2A 0.3.0 §8 has no code for a message to a finished task. The official JS SDK answers "invalid
 * request".
 */
export const CODES: Codes = { TASK_FINISHED: -32600 };
