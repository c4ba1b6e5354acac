import type { ClientOptions } from '#client';
import { TIMER_MS_MAX } from '../settings/duration.ts';

const MIB = 1_048_576;

/**
 * The largest response, and the largest event of a stream, that a command accepts: the largest artifact of a Parley node (64 MiB) as JSON, which
 * may take twice its bytes, with room for the rest of the message. A person at a terminal has memory that a library can't assume.
 */
export const ANSWER_LIMITS: Required<Pick<ClientOptions, 'answerBytesMax' | 'eventBytesMax'>> = {
  answerBytesMax: 256 * MIB,
  eventBytesMax: 256 * MIB,
};

/** How long one call waits for its answer, if `--timeout` says nothing else. A stream and a wait that polls have no limit. */
export const CALL_TIMEOUT = '60s';
export const CALL_TIMEOUT_MS = 60_000;

/** For commands whose calls `--timeout` ends. */
export const NO_TIMEOUT: Required<Pick<ClientOptions, 'timeoutMs' | 'idleMs'>> = { timeoutMs: TIMER_MS_MAX, idleMs: TIMER_MS_MAX };
