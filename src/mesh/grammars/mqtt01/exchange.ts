import { requestText } from '#bindings';
import type { CallContext, Json } from '#protocol';
import { A2AError } from '#protocol';
import type { MeshContext, MeshLinkOptions, MeshParticipant } from '../grammar.ts';
import { writeExtensions } from '../shared/extensions.ts';
import { encode, JSON_TYPE } from '../shared/messages.ts';
import type { MqttInbox, MqttResponse, OpenCorrelation } from './inbox.ts';
import { ARTIFACT_MODE, AUTHORIZATION, CONTEXT_ID, writeCallPath } from './properties.ts';
import { ResponseQueue } from './response-queue.ts';
import type { MqttSettings } from './settings.ts';
import { readNamespace } from './topics.ts';

/** Everything that one link needs. */
export interface MqttLinkContext {
  readonly self: MeshParticipant;
  readonly mesh: MeshContext;
  readonly mqtt: MqttSettings;
  readonly inbox: MqttInbox;
  readonly options: MeshLinkOptions;
  /**
   * Whether the agent recognises a repeated message and then publishes all events. Parley's agents do,
   * and number their events.
   */
  readonly peer: { isParley: boolean };
}

/** One request to an agent or a pool. */
export interface MqttExchange {
  readonly method: string;
  /** The method of the first attempt, if it differs: one with a single response instead of events. */
  readonly firstMethod?: string;
  readonly params: Json;
  readonly ctx: CallContext;
  /** The task of the request. The request goes to the agent that has the task. */
  readonly task?: string;
  readonly contextId?: string;
  /** The request creates the task. */
  readonly isNew?: true;
}

const POOL = 'pool/';

/** The name of the pool in `pool/NAME`; undefined for the name of an agent. */
export function poolIn({ agent }: Pick<MeshLinkOptions, 'agent'>): string | undefined {
  return agent.startsWith(POOL) ? agent.slice(POOL.length) : undefined;
}

/**
 * Publishes one request and yields its responses, and `undefined` each time a stream was idle for too
 * long. The request is published again, with a new correlation, only as long as no response has come
 * (A2A over MQTT 0.1 §6).
 */
export async function* exchange(link: MqttLinkContext, request: MqttExchange): AsyncGenerator<MqttResponse | undefined> {
  const { mqtt, inbox } = link;
  const queue = new ResponseQueue(request.ctx.signal);
  const correlations: OpenCorrelation[] = [];
  // An agent that recognises a repeat may respond under the first correlation, so all of them stay open.
  const open = (): Uint8Array => {
    const one = inbox.open((response) => queue.push(response));
    correlations.push(one);
    return one.correlation;
  };
  try {
    await publishUntilResponse(link, request, { queue, open });
    for (;;) {
      const response = queue.shift();
      if (response !== undefined) {
        recordRoute(response, link, request);
        yield response;
      } else if (!(await queue.waitFor(mqtt.profile.streamIdleTimeoutMs))) yield undefined;
    }
  } finally {
    for (const one of correlations) one.close();
  }
}

interface Attempts {
  readonly queue: ResponseQueue;
  open(): Uint8Array;
}

/** Publishes the request again until a response arrives or the attempts are used up. */
async function publishUntilResponse(link: MqttLinkContext, request: MqttExchange, { queue, open }: Attempts): Promise<void> {
  const { mqtt, options } = link;
  const { attemptsMax, replyFirstTimeoutMs } = mqtt.profile;
  const firstMs = options.retryMs ?? replyFirstTimeoutMs;
  const until = performance.now() + (options.acceptMsMax ?? Number.POSITIVE_INFINITY);
  let problem = '';
  let counted = 0;
  for (let attempt = 1; counted < attemptsMax && performance.now() < until; attempt += 1) {
    if (attempt > 1 && (await queue.waitFor(backoffBefore(attempt, link)))) return;
    const failure = await publish(link, request, { attempt, correlation: open() });
    problem = failure ?? `no response within ${Math.round(firstMs / 1000)} s`;
    // With `acceptMsMax` only the time counts: an agent that is restarting subscribes soon.
    if (failure === undefined || options.acceptMsMax === undefined) counted += 1;
    // When the broker reports that nobody subscribes, there is no response to wait for.
    if (await queue.waitFor(failure === undefined ? firstMs : 0)) return;
  }
  throw new A2AError('UNAVAILABLE', `${options.agent} has not responded on the broker after ${Math.max(1, counted)} attempts: ${problem}`);
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

/** Returns why the request was not delivered, or undefined. */
async function publish(link: MqttLinkContext, request: MqttExchange, { attempt, correlation }: Attempt): Promise<string | undefined> {
  const { mesh, inbox, mqtt, options } = link;
  const method = attempt === 1 ? (request.firstMethod ?? request.method) : request.method;
  try {
    const { hasSubscribers } = await mesh.broker.publish({
      topic: topicOf(link, request, attempt),
      payload: encode(requestText(mesh.ids.next(), method, request.params)),
      contentType: JSON_TYPE,
      responseTopic: inbox.topic,
      correlation,
      // Longer than the wait for the response (A2A over MQTT 0.1 §3), and expired when the next attempt is published.
      expiryMs: (options.retryMs ?? mqtt.profile.replyFirstTimeoutMs) + 1,
      properties: await propertiesOf(link, request),
    });
    return hasSubscribers === false ? 'nobody subscribes to its topic' : undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : 'the broker did not accept the request';
  }
}

/**
 * The agent that has the task. The last attempt goes to the agent that the first request went to (A2A
 * over MQTT 0.1 §9).
 */
function topicOf({ mesh, inbox, mqtt, options }: MqttLinkContext, { task }: MqttExchange, attempt: number): string {
  const unit = readNamespace(mesh.namespace);
  const pool = poolIn(options);
  const responder = task === undefined ? undefined : inbox.routes.of(task);
  const isLast = attempt > 1 && attempt >= mqtt.profile.attemptsMax;
  if (responder !== undefined && !(isLast && pool === undefined)) return mqtt.topics.request({ ...unit, agent: responder });
  return pool === undefined ? mqtt.topics.request({ ...unit, agent: options.agent }) : mqtt.topics.pool(unit, pool);
}

/** The user properties of a request: call path, context and credential. */
async function propertiesOf({ self, mqtt, options }: MqttLinkContext, { ctx, contextId }: MqttExchange): Promise<Record<string, string>> {
  const authorization = await mqtt.options.authorization?.(ctx);
  const { depth, agents } = options.callPath ?? { depth: 0, agents: [] };
  return {
    ...writeCallPath(self.kind === 'agent' ? { depth: depth + 1, agents: [...agents, self.id] } : { depth, agents }),
    ...(contextId === undefined ? {} : { [CONTEXT_ID]: contextId }),
    ...(authorization === undefined ? {} : { [AUTHORIZATION]: authorization }),
    ...writeExtensions(ctx.extensions),
    ...(ctx.trace === undefined ? {} : { traceparent: ctx.trace.traceparent }),
    ...(mqtt.options.artifactMode === 'binary' ? { [ARTIFACT_MODE]: 'binary' } : {}),
  };
}

/**
 * Records which agent has the task. A pool member that does not name itself can't be reached again,
 * which is an error.
 */
function recordRoute(
  { responder, error, seq }: MqttResponse,
  { inbox, options, mesh, peer }: MqttLinkContext,
  { task }: MqttExchange,
): void {
  peer.isParley ||= seq !== undefined;
  if (responder !== undefined && task !== undefined && inbox.routes.of(task) !== responder) inbox.routes.set(task, responder);
  if (responder !== undefined || poolIn(options) === undefined || error !== undefined) return;
  if (task !== undefined && inbox.routes.of(task) !== undefined) return;
  mesh.counts.dropped += 1;
  throw new A2AError('INVALID_AGENT_RESPONSE', `a response of ${options.agent} does not name the pool member that sent it`);
}
