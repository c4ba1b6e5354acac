import type { Codes } from '../shared/errors.ts';

/** §8 gives a message to a finished task no code; the official JS SDK answers it as an invalid request. */
export const CODES: Codes = { TASK_FINISHED: -32600 };
