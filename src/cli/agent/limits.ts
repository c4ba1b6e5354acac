import type { ClientOptions } from '#client';

const MIB = 1_048_576;

/**
 * The largest response, and the largest event of a stream, that a command accepts: the largest artifact of a Parley node (64 MiB) as JSON, which
 * may take twice its bytes, with room for the rest of the message. A person at a terminal has memory that a library can't assume.
 */
export const ANSWER_LIMITS: Required<Pick<ClientOptions, 'answerBytesMax' | 'eventBytesMax'>> = {
  answerBytesMax: 256 * MIB,
  eventBytesMax: 256 * MIB,
};

/** The longest time that a timer can measure. For commands that only `--timeout` ends. */
export const NO_TIMEOUT: Required<Pick<ClientOptions, 'timeoutMs' | 'idleMs'>> = { timeoutMs: 2_147_483_647, idleMs: 2_147_483_647 };
