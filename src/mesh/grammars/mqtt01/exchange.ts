import { requestText } from '#bindings';
import type { CallContext, Json } from '#protocol';
import { A2AError } from '#protocol';
import type { MeshContext, MeshLinkOptions, MeshParticipant } from '../grammar.ts';
import type { MqttInbox, MqttResponse, OpenCorrelation } from './inbox.ts';
import { ARTIFACT_MODE, AUTHORIZATION, CONTEXT_ID, writeTrailTo } from './properties.ts';
import type { MqttSettings } from './settings.ts';
import { readNamespace } from './topics.ts';

/** Everything that one link is made of. */
export interface MqttLinkContext {
  readonly self: MeshParticipant;
  readonly place: MeshContext;
  readonly mqtt: MqttSettings;
  readonly inbox: MqttInbox;
  readonly options: MeshLinkOptions;
  /** Whether the agent tells a repeat by its message, and says everything to it: those of ours do, and number what they say. */
  readonly learned: { isOurs: boolean };
}

export interface MqttExchange {
  readonly method: string;
  /** Of the first attempt, if it differs: one that is answered once, and not with each event. */
  readonly firstMethod?: string;
  readonly params: Json;
  readonly ctx: CallContext;
  /** The task it is about: it goes to whoever has that. */
  readonly task?: string;
  readonly contextId?: string;
  /** It makes the task. */
  readonly isNew?: true;
}

const POOL = 'pool/';
const encoder = new TextEncoder();

export function poolIn({ agent }: Pick<MeshLinkOptions, 'agent'>): string | undefined {
  return agent.startsWith(POOL) ? agent.slice(POOL.length) : undefined;
}

/**
 * One request, and the words that come of it; `undefined` after each silence that is too long for a stream. It is published again, with a new
 * correlation, only while nothing at all has come back; and from then on never (reference/mqtt §6).
 */
export async function* exchange(linked: MqttLinkContext, asked: MqttExchange): AsyncGenerator<MqttResponse | undefined> {
  const { mqtt, inbox } = linked;
  const { streamIdleTimeoutMs } = mqtt.profile;
  const waiting = new Waiting(asked.ctx.signal);
  const opened: OpenCorrelation[] = [];
  // Whoever knows a repeat for one may answer under the first correlation: all of them stay good.
  const open = (): Uint8Array => {
    const one = inbox.open((word) => waiting.push(word));
    opened.push(one);
    return one.correlation;
  };
  try {
    await untilHeard(linked, asked, { waiting, open });
    for (;;) {
      const word = waiting.shift();
      if (word !== undefined) {
        noteRoute(word, linked, asked);
        yield word;
      } else if (!(await waiting.for(streamIdleTimeoutMs))) yield undefined;
    }
  } finally {
    for (const one of opened) one.close();
  }
}

interface Trying {
  readonly waiting: Waiting;
  open(): Uint8Array;
}

async function untilHeard(linked: MqttLinkContext, asked: MqttExchange, { waiting, open }: Trying): Promise<void> {
  const { mqtt, options } = linked;
  const { attemptsMax, replyFirstTimeoutMs } = mqtt.profile;
  const firstMs = options.retryMs ?? replyFirstTimeoutMs;
  const until = performance.now() + (options.acceptMsMax ?? Number.POSITIVE_INFINITY);
  let problem = '';
  let counted = 0;
  for (let attempt = 1; counted < attemptsMax && performance.now() < until; attempt += 1) {
    if (attempt > 1 && (await waiting.for(backoffBefore(attempt, linked)))) return;
    const outcome = await publish(linked, asked, { attempt, correlation: open() });
    problem = outcome ?? `no answer within ${Math.round(firstMs / 1000)} s`;
    // An agent that is being started again listens soon; whoever says how long it waits for that does not mean how often it asks.
    if (outcome === undefined || options.acceptMsMax === undefined) counted += 1;
    // A broker that knows that nobody listens has said all: there is nothing to wait for but the next attempt.
    if (await waiting.for(outcome === undefined ? firstMs : 0)) return;
  }
  throw new A2AError('UNAVAILABLE', `${options.agent} has not answered on the broker, asked ${Math.max(1, counted)} times: ${problem}`);
}

function backoffBefore(attempt: number, { mqtt: { profile, options }, options: { retryMs } }: MqttLinkContext): number {
  const { retryBackoffMs } = profile;
  const backoff = retryBackoffMs[Math.min(attempt - 2, retryBackoffMs.length - 1)] ?? 0;
  return Math.min(backoff, retryMs ?? backoff) * (0.8 + 0.4 * (options.random ?? Math.random)());
}

interface Attempt {
  readonly attempt: number;
  readonly correlation: Uint8Array;
}

/** What was wrong with it; undefined if it is on its way. */
async function publish(linked: MqttLinkContext, asked: MqttExchange, { attempt, correlation }: Attempt): Promise<string | undefined> {
  const { place, inbox, mqtt, options } = linked;
  try {
    const { hasSubscribers } = await place.broker.publish({
      topic: topicOf(linked, asked, attempt),
      payload: encoder.encode(
        requestText(place.ids.next(), attempt === 1 ? (asked.firstMethod ?? asked.method) : asked.method, asked.params),
      ),
      contentType: 'application/json',
      responseTopic: inbox.topic,
      correlation,
      // More than the wait for its answer (reference/mqtt §3), and gone when the next attempt is under way.
      expiryMs: (options.retryMs ?? mqtt.profile.replyFirstTimeoutMs) + 1,
      properties: await propertiesOf(linked, asked),
    });
    return hasSubscribers === false ? 'nobody listens on its topic' : undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : 'the broker did not take the request';
  }
}

/** Whoever has the task; if it does not answer at last, whoever was asked at first (reference/mqtt §9). */
function topicOf({ place, inbox, mqtt, options }: MqttLinkContext, { task }: MqttExchange, attempt: number): string {
  const where = readNamespace(place.namespace);
  const pool = poolIn(options);
  const responder = task === undefined ? undefined : inbox.routes.of(task);
  const isLast = attempt > 1 && attempt >= mqtt.profile.attemptsMax;
  if (responder !== undefined && !(isLast && pool === undefined)) return mqtt.topics.request({ ...where, agent: responder });
  return pool === undefined ? mqtt.topics.request({ ...where, agent: options.agent }) : mqtt.topics.pool(where, pool);
}

async function propertiesOf({ self, mqtt, options }: MqttLinkContext, { ctx, contextId }: MqttExchange): Promise<Record<string, string>> {
  const authorization = await mqtt.options.authorization?.(ctx);
  const { depth, agents } = options.trail ?? { depth: 0, agents: [] };
  return {
    ...(self.kind === 'agent' ? writeTrailTo({ depth: depth + 1, agents: [...agents, self.id] }) : writeTrailTo({ depth, agents })),
    ...(contextId === undefined ? {} : { [CONTEXT_ID]: contextId }),
    ...(authorization === undefined ? {} : { [AUTHORIZATION]: authorization }),
    ...(ctx.trace === undefined ? {} : { traceparent: ctx.trace.traceparent }),
    ...(mqtt.options.artifactMode === 'binary' ? { [ARTIFACT_MODE]: 'binary' } : {}),
  };
}

/** Pools and hand-overs go by the same rule. A pool that does not say who it is can't be asked again. */
function noteRoute(
  { responder, error, seq }: MqttResponse,
  { inbox, options, place, learned }: MqttLinkContext,
  { task }: MqttExchange,
): void {
  learned.isOurs ||= seq !== undefined;
  if (responder !== undefined && task !== undefined && inbox.routes.of(task) !== responder) inbox.routes.set(task, responder);
  if (responder !== undefined || poolIn(options) === undefined || error !== undefined) return;
  if (task !== undefined && inbox.routes.of(task) !== undefined) return;
  place.counts.dropped += 1;
  throw new A2AError('INVALID_AGENT_RESPONSE', `an answer of ${options.agent} does not say which member it is from`);
}

/** Words in the order in which they come, and a wait for the next. */
class Waiting {
  readonly #words: MqttResponse[] = [];
  readonly #signal: AbortSignal;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  push(word: MqttResponse): void {
    this.#words.push(word);
    this.#wake?.();
  }

  shift(): MqttResponse | undefined {
    return this.#words.shift();
  }

  /** Whether something has come within so long. */
  async for(ms: number): Promise<boolean> {
    if (this.#words.length === 0 && !this.#signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, ms);
      this.#signal.addEventListener('abort', this.#wake, { once: true });
      await promise;
      clearTimeout(timer);
      this.#signal.removeEventListener('abort', this.#wake);
      this.#wake = undefined;
    }
    if (this.#words.length > 0) return true;
    if (this.#signal.aborted) throw new A2AError('UNAVAILABLE', 'the call was aborted', { cause: this.#signal.reason });
    return false;
  }
}
