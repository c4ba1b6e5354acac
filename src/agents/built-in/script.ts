import type { Agent, AgentOutput, Turn } from '#protocol';
import { getTextFromMessage, unreachable } from '#protocol';
import { createCard } from '../card.ts';
import { artifact, ask, auth, fail, message, reject } from '../outputs.ts';
import { sleep } from '../sleep.ts';
import type { Ending } from './directives.ts';
import { readDirectives } from './directives.ts';

const CHUNKS = 'chunks';

/**
 * Follows directives, for tests and load. It yields the engine's own outputs, because load tests
 * measure the engine.
 */
export function createScript(): Agent {
  return {
    card: createCard({
      name: 'script',
      description:
        'Obeys directives in the text of a message: chunks=N size=BYTES delay=MS sleep=MS, and one of ask, auth, reject, fail, message, crash. For tests and load.',
      skills: [
        {
          id: 'script',
          name: 'Obey directives',
          description: 'Streams, waits, asks, refuses, fails or crashes, as the message asks.',
          tags: ['test', 'load'],
          examples: ['chunks=5 delay=200', 'sleep=1000', 'ask', 'fail'],
        },
      ],
      outputModes: ['text/plain'],
    }),
    // Chunks are counted in the task, so an interrupted run continues with the first missing one: none is lost or repeated.
    recovery: 'resume',
    run,
  };
}

/** Follows the directives of the first message. A later message is the answer to its question. */
async function* run(turn: Turn): AsyncGenerator<AgentOutput> {
  const said = getTextFromMessage(turn.message);
  if (turn.history.length > 0) {
    yield artifact({ id: 'answer', parts: [{ text: `answer: ${said}` }] });
    return;
  }
  const directives = readDirectives(said);
  if (typeof directives === 'string') {
    yield reject(directives);
    return;
  }
  const { chunks, size, delayMs, sleepMs, ending } = directives;
  if (sleepMs > 0) await sleep(sleepMs, turn.signal);
  for (let at = chunksMade(turn, size); at < chunks; at += 1) {
    if (delayMs > 0 && at > 0) await sleep(delayMs, turn.signal);
    yield { kind: 'text', text: chunk(at + 1, size), artifact: CHUNKS };
  }
  if (ending !== undefined) yield lastWord(ending);
}

/**
 * The number of chunks that an earlier attempt made. Their texts are joined in the task, so their
 * lengths are counted.
 */
function chunksMade({ task, attempt }: Turn, size: number | undefined): number {
  if (attempt === 1) return 0;
  const made = task.artifacts?.find(({ artifactId }) => artifactId === CHUNKS)?.parts ?? [];
  let left = made.reduce((sum, { text = '' }) => sum + text.length, 0);
  let count = 0;
  while (left > 0) {
    count += 1;
    left -= chunk(count, size).length;
  }
  return count;
}

/** All of it is ASCII, so characters are bytes. */
function chunk(count: number, size: number | undefined): string {
  const words = `chunk ${count}`;
  return size === undefined ? words : words.padEnd(size, '.').slice(0, size);
}

/** The final output that a directive asks for. */
function lastWord(ending: Ending): AgentOutput {
  switch (ending) {
    case 'ask':
      return ask('What should I answer?');
    case 'auth':
      return auth('I need a credential to continue.');
    case 'reject':
      return reject('The message asked me to reject this.');
    case 'fail':
      return fail('The message asked me to fail.');
    case 'message':
      return message('The message asked for an answer without a task.');
    case 'crash':
      throw new Error('the message asked script to crash');
    default:
      return unreachable(ending);
  }
}
