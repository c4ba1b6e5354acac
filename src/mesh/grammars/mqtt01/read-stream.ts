import type { Logged, Task, TaskEvent } from '#protocol';
import { A2AError, DEFAULT_READ_LIMITS, isA2AError, randomIds } from '#protocol';
import { beginning } from '../sam/inbox.ts';
import { Assembly } from './binary.ts';
import type { MqttExchange, MqttLinkContext } from './exchange.ts';
import { exchange } from './exchange.ts';
import type { MqttResponse } from './inbox.ts';
import { endsStream } from './reply.ts';
import { SPOKEN } from './settings.ts';

const ENV = { ids: randomIds, limits: DEFAULT_READ_LIMITS };
/** As long as a peer may be silent in all, where nobody says otherwise. */
const SILENCE_MS_MAX = 600_000;

/**
 * The events of one exchange until it is over (reference/mqtt §8). A stream that has fallen silent, or has left out a piece of a file, is
 * caught up with by asking for the task; never by sending again.
 */
export async function* reading(
  linked: MqttLinkContext,
  asked: MqttExchange,
  getTask: () => Promise<Task>,
): AsyncGenerator<readonly Logged[]> {
  const { options } = linked;
  const sorting = new Sorting(asked);
  let hasBegun = false;
  let silentSince = performance.now();
  for await (const word of exchange(linked, asked)) {
    const isSilence = word === undefined;
    const task = isSilence ? await looked(getTask) : undefined;
    const event = word === undefined ? ending(task) : sorting.eventIn(word, options.agent);
    // It has spoken, or it lives and goes on.
    if (!isSilence || task !== undefined) silentSince = performance.now();
    else if (performance.now() - silentSince >= (options.idleMsMax ?? SILENCE_MS_MAX)) {
      throw new A2AError('UNAVAILABLE', `${options.agent} has fallen silent`);
    }
    if (event === undefined) continue;
    const isOver = endsStream(event);
    const whole = isOver && !isSilence && sorting.isIncomplete ? { task: await getTask() } : event;
    yield (hasBegun ? [whole] : beginning(undefined, whole)).map((each) => ({ event: each }));
    hasBegun = true;
    if (isOver) return;
  }
}

function ending(task: Task | undefined): TaskEvent | undefined {
  return task !== undefined && endsStream({ task }) ? { task } : undefined;
}

/** Undefined: it can't be asked, which says nothing about the task. Nobody there is an error. */
async function looked(getTask: () => Promise<Task>): Promise<Task | undefined> {
  try {
    return await getTask();
  } catch (thrown) {
    if (isA2AError(thrown) && thrown.kind !== 'UNAVAILABLE' && thrown.kind !== 'TASK_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** Each event once, of however many answers to however many attempts. */
class Sorting {
  readonly #files = new Assembly();
  #first: string | undefined;
  #last: number | undefined;
  #begin: number | undefined;
  #hasGap = false;

  constructor({ isNew }: MqttExchange) {
    this.#last = isNew === true ? 0 : undefined;
  }

  /** Something is missing: a piece of a file, or an event that was overtaken and came too late, or not at all. */
  get isIncomplete(): boolean {
    return this.#files.isIncomplete || this.#hasGap;
  }

  eventIn(word: MqttResponse, agent: string): TaskEvent | undefined {
    const { seq, correlation, chunk, error } = word;
    this.#first ??= correlation;
    // Events with numbers are known by them; without, the first answer is followed and a second is a repeat.
    if (seq === undefined && correlation !== this.#first) return undefined;
    if (error !== undefined) throw error;
    const isRepeat = seq !== undefined && this.#isOld(seq);
    if (chunk !== undefined) {
      const artifactUpdate = this.#files.take(chunk);
      return artifactUpdate === undefined ? undefined : { artifactUpdate };
    }
    if (isRepeat) return undefined;
    const decoded = SPOKEN.decode('event', word.result, ENV);
    if (!decoded.ok) throw new A2AError('INVALID_AGENT_RESPONSE', `the answer of ${agent} can't be read`);
    return decoded.value;
  }

  /** Events of a log are counted without gaps; only where a later turn begins is not known. */
  #isOld(seq: number): boolean {
    const last = this.#last;
    this.#begin ??= seq;
    if (seq < this.#begin) this.#hasGap = true; // overtaken by the first that was heard
    if (last !== undefined && seq <= last) return true;
    if (last !== undefined && seq > last + 1) this.#hasGap = true;
    this.#last = seq;
    return false;
  }
}
