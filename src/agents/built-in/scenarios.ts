import type { AgentOutput, Part, Turn } from '#protocol';
import { createFilePartFromBytes, createFilePartFromUri, getTextFromMessage } from '#protocol';
import { artifact, ask, auth, complete, fail, message, reject, status } from '../outputs.ts';
import { sleep } from '../sleep.ts';

export type Scenario = (turn: Turn) => AsyncIterable<AgentOutput>;
type Named = readonly (readonly [string, Scenario])[];

const FILE = { name: 'output.txt', mediaType: 'text/plain' };
const FILE_PART = createFilePartFromBytes(new TextEncoder().encode('tck'), FILE);
const URL_PART = createFilePartFromUri('https://example.com/output.txt', FILE);

const SHARED: Named = [
  ['tck-complete-task', saying(() => complete('Hello from TCK'))],
  ['tck-message-response', saying(() => message('Direct message response'))],
  ['tck-input-required', saying(() => ask('What else should I know?'))],
  ['tck-auth-required', saying(() => auth('Credentials are needed.'))],
  ['tck-reject-task', saying(() => reject('This is refused, as it was asked to be.'))],
  ['tck-artifact-text', making({ text: 'Generated text content' })],
  ['tck-artifact-file-url', making(URL_PART)],
  ['tck-artifact-file', making(FILE_PART)],
  ['tck-artifact-data', making({ data: { key: 'value', count: 42 } })],
];

/** The official kit, by the beginning of the messageId. */
export const TCK_SCENARIOS: Named = [
  ...SHARED,
  ['tck-stream-001', working([{ text: 'Stream hello from TCK' }])],
  ['tck-stream-002', saying(() => complete())],
  ['tck-stream-003', working([{ text: 'Stream task lifecycle' }])],
  ['tck-stream-ordering-001', working([{ text: 'Ordered output' }])],
  ['tck-stream-artifact-text', working([{ text: 'Streamed text content' }])],
  ['tck-stream-artifact-file', working([FILE_PART])],
  ['tck-stream-artifact-chunked', working([{ text: 'chunk-1 ' }, { text: 'chunk-2' }])],
  ['tck-delayed-complete', waiting(2000)],
  // Twice the time within which the kit expects an event of a stream.
  ['test-resubscribe-message-id', waiting(4000)],
];

/** The ACTS draft, by the first word of the first part. */
export const ACTS_SCENARIOS: ReadonlyMap<string, Scenario> = new Map<string, Scenario>([
  ...SHARED,
  ['tck-task-failure', saying(() => fail('This failed, as it was asked to.'))],
  ['tck-multi-turn', multiTurn],
  ['tck-cancel', untilCanceled],
  // ACTS expects the state working for at least 3 s, and the end within 25 s.
  ['tck-long-running', working([{ text: 'Long work, done' }], { beforeMs: 5000 })],
  // A second stream is opened after the first event of the first one and must find the task unfinished.
  ['tck-stream-basic', working([{ text: 'Stream hello' }], { beforeMs: 200, afterMs: 200 })],
  ['tck-stream-chunked', working([{ text: 'chunk-1 ' }, { text: 'chunk-2 ' }, { text: 'chunk-3' }])],
]);

/** Messages are made for each run, because each needs an id of its own. */
function saying(word: () => AgentOutput): Scenario {
  return async function* () {
    yield word();
  };
}

function making(part: Part): Scenario {
  return saying(() => artifact({ parts: [part] }));
}

/** WORKING, one artifact in as many chunks as there are parts, COMPLETED. */
function working(parts: readonly Part[], { beforeMs = 0, afterMs = 0 } = {}): Scenario {
  return async function* ({ signal }) {
    yield status();
    if (beforeMs > 0) await sleep(beforeMs, signal);
    for (const [at, part] of parts.entries()) {
      yield artifact({ id: 'output', parts: [part], append: at > 0, last: at === parts.length - 1 });
    }
    if (afterMs > 0) await sleep(afterMs, signal);
  };
}

function waiting(ms: number): Scenario {
  return working([], { beforeMs: ms });
}

/**
 * Without messages of the agent: the draft reads the history by position and expects only the user's
 * messages in it.
 */
async function* multiTurn(turn: Turn): AsyncGenerator<AgentOutput> {
  if (turn.history.length > 0 && getTextFromMessage(turn.message) === 'done') yield complete();
  else yield ask();
}

async function* untilCanceled({ signal }: Turn): AsyncGenerator<AgentOutput> {
  yield status();
  await sleep(60_000, signal);
  yield fail('Nobody canceled this within a minute.');
}
