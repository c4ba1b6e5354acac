import type { LinkOptions } from '#bindings';

const MIB = 1_048_576;

/**
 * What a command takes in one answer, and in one event of a stream: the largest artifact of a Parley node (64 MiB) as JSON, which may write
 * a character in twice its bytes, with room for what stands around it. A person at a terminal has the memory that a library must not assume.
 */
export const ANSWER_LIMITS: Required<Pick<LinkOptions, 'answerBytesMax' | 'eventBytesMax'>> = {
  answerBytesMax: 256 * MIB,
  eventBytesMax: 256 * MIB,
};
