import type { Logged, Task, TaskEvent } from '#protocol';
import { A2AError, DEFAULT_READ_LIMITS, isA2AError, randomIds } from '#protocol';
import { startWithTask } from '../shared/events.ts';
import { ChunkAssembler } from './binary.ts';
import type { MqttExchange, MqttLinkContext } from './exchange.ts';
import { exchange } from './exchange.ts';
import type { MqttResponse } from './inbox.ts';
import { endsStream } from './reply.ts';
import { DIALECT } from './settings.ts';

const ENV = { ids: randomIds, limits: DEFAULT_READ_LIMITS };
/** The default of `idleMsMax`. */
const IDLE_MS_MAX = 600_000;

/**
 * Yields the events of one exchange until its end (A2A over MQTT 0.1 §8). When the stream was idle for
 * too long, or a piece of a file is missing, it asks for the task. It never sends the message again.
 */
export async function* readStream(
  link: MqttLinkContext,
  request: MqttExchange,
  getTask: () => Promise<Task>,
): AsyncGenerator<readonly Logged[]> {
  const { options } = link;
  const reader = new EventReader(request);
  let hasBegun = false;
  let lastSignOfLife = performance.now();
  for await (const response of exchange(link, request)) {
    const isIdle = response === undefined;
    const task = isIdle ? await taskIfKnown(getTask) : undefined;
    const event = response === undefined ? finalEvent(task) : reader.eventIn(response, options.agent);
    // A response, or the task of an agent that is still at work.
    if (!isIdle || task !== undefined) lastSignOfLife = performance.now();
    else if (performance.now() - lastSignOfLife >= (options.idleMsMax ?? IDLE_MS_MAX)) {
      throw new A2AError('UNAVAILABLE', `${options.agent} no longer responds`);
    }
    if (event === undefined) continue;
    const isOver = endsStream(event);
    const whole = isOver && !isIdle && reader.isIncomplete ? { task: await getTask() } : event;
    yield (hasBegun ? [whole] : startWithTask(undefined, whole)).map((each) => ({ event: each }));
    hasBegun = true;
    if (isOver) return;
  }
}

function finalEvent(task: Task | undefined): TaskEvent | undefined {
  return task !== undefined && endsStream({ task }) ? { task } : undefined;
}

/**
 * Undefined when the agent refuses to say, which tells nothing about the task. Throws when the agent or
 * the task is gone.
 */
async function taskIfKnown(getTask: () => Promise<Task>): Promise<Task | undefined> {
  try {
    return await getTask();
  } catch (thrown) {
    if (isA2AError(thrown) && thrown.kind !== 'UNAVAILABLE' && thrown.kind !== 'TASK_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** Reads each event once, though several attempts may each have been answered with all of them. */
class EventReader {
  readonly #files = new ChunkAssembler();
  #firstCorrelation: string | undefined;
  #lastSeq: number | undefined;
  #firstSeq: number | undefined;
  #hasGap = false;

  constructor({ isNew }: MqttExchange) {
    this.#lastSeq = isNew === true ? 0 : undefined;
  }

  /** A piece of a file is missing, or an event came too late or not at all. */
  get isIncomplete(): boolean {
    return this.#files.isIncomplete || this.#hasGap;
  }

  eventIn(response: MqttResponse, agent: string): TaskEvent | undefined {
    const { seq, correlation, chunk, error } = response;
    this.#firstCorrelation ??= correlation;
    // Numbered events are compared by number. Without numbers, only the first correlation is read; others repeat it.
    if (seq === undefined && correlation !== this.#firstCorrelation) return undefined;
    if (error !== undefined) throw error;
    const isRepeat = seq !== undefined && this.#isRepeat(seq);
    if (chunk !== undefined) {
      const artifactUpdate = this.#files.add(chunk);
      return artifactUpdate === undefined ? undefined : { artifactUpdate };
    }
    if (isRepeat) return undefined;
    const decoded = DIALECT.decode('event', response.result, ENV);
    if (!decoded.ok) throw new A2AError('INVALID_AGENT_RESPONSE', `the response of ${agent} can't be read`);
    return decoded.value;
  }

  /** Numbers in a log have no gaps. Only the first number of a later turn is unknown. */
  #isRepeat(seq: number): boolean {
    const last = this.#lastSeq;
    this.#firstSeq ??= seq;
    if (seq < this.#firstSeq) this.#hasGap = true; // a later event came first
    if (last !== undefined && seq <= last) return true;
    if (last !== undefined && seq > last + 1) this.#hasGap = true;
    this.#lastSeq = seq;
    return false;
  }
}
