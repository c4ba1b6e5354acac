import type { RpcRequest } from '#bindings';
import { isObject, parseJson, readableId, readEnvelope, requestObject, requestOf } from '#bindings';
import type { CallContext, Dialect, ReadEnv, Requests, RpcId, SendRequest, Task } from '#protocol';
import { A2AError, behave, countedIds, DEFAULT_READ_LIMITS, isA2AError, taskId } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import { BROKER_DEFAULTS } from '../../broker.ts';
import type { MeshAgent, MeshContext, Stop } from '../grammar.ts';
import { CALL_DEPTH_MAX } from '../grammar.ts';
import { callPathMetadata } from '../shared/call-path.ts';
import { spellingOf, WIRE } from './dialects.ts';
import { follow } from './follow.ts';
import { getEveryInstanceTopic, getInstanceTopic } from './instance-topics.ts';
import type { Properties } from './properties.ts';
import { readProperties } from './properties.ts';
import { publishError } from './reply.ts';
import { writeAddress } from './reply-address.ts';
import { getAgentRequestTopic, getClientResponseTopic } from './topics.ts';

const ENV: ReadEnv = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };
const JSON_MEMBERS_MAX = 100_000;

/** A request that has been understood as far as to whom it is answered. */
interface Request {
  readonly message: ReceivedMessage;
  readonly properties: Properties;
  readonly topic: string;
  dialect: Dialect;
  rpcId: RpcId;
}

/** Answers what is asked of one agent. Replicas share its topic; each also has one of its own, and hears what is for all. */
export async function serveSam(agent: MeshAgent, place: MeshContext): Promise<Stop> {
  const { broker, namespace } = place;
  const own = new AbortController();
  const serving = { agent: { ...agent, service: behave(agent.service, WIRE.traits) }, place, signal: own.signal };
  const handle = (message: ReceivedMessage): Promise<void> => taken(message, serving);
  const stops = [
    await broker.subscribe({ filter: getAgentRequestTopic(namespace, agent.name), group: `parley-${agent.name}`, handle }),
    await broker.subscribe({ filter: getInstanceTopic(place, agent.name), handle }),
    await broker.subscribe({
      filter: getEveryInstanceTopic(namespace, agent.name),
      handle: (message) => taken(message, { ...serving, isRelayed: true }),
    }),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
    own.abort();
  };
}

interface Serving {
  readonly agent: MeshAgent;
  readonly place: MeshContext;
  readonly signal: AbortSignal;
  /** Another replica did not know the task, and asks all. */
  readonly isRelayed?: true;
}

/** Resolves when the request may be acknowledged: it is kept, or answered, or nobody can be told of it. */
async function taken(message: ReceivedMessage, serving: Serving): Promise<void> {
  const { counts, namespace } = serving.place;
  // Requests are never kept by a broker: a kept one was put there for everybody who ever comes (reference/faults B8).
  if (message.isRetained) {
    counts.ignored += 1;
    return;
  }
  const properties = readProperties(message, namespace);
  if (properties === undefined) {
    counts.dropped += 1;
    return;
  }
  const topic = properties.replyTo ?? clientTopic(namespace, properties.clientId);
  if (topic === undefined) {
    counts.dropped += 1;
    return;
  }
  const request: Request = { message, properties, topic, dialect: WIRE, rpcId: null };
  try {
    await answered(request, serving);
  } catch (thrown) {
    await refused(thrown, request, serving);
  }
}

function clientTopic(namespace: string, clientId: string): string | undefined {
  try {
    return getClientResponseTopic(namespace, clientId);
  } catch {
    return undefined;
  }
}

async function refused(thrown: unknown, request: Request, { place, signal, isRelayed }: Serving): Promise<void> {
  const error = A2AError.from(thrown);
  // Not taken, so not acknowledged: another replica may, or this one when it is up again.
  if (error.kind === 'UNAVAILABLE' && signal.aborted) throw error;
  if (isRelayed === true && error.kind === 'TASK_NOT_FOUND') return;
  if (error.kind === 'INTERNAL_ERROR') place.report('a request over the broker failed inside', error.cause ?? error);
  place.counts.refused += 1;
  await publishError(error, request, place);
}

async function answered(request: Request, serving: Serving): Promise<void> {
  const rpc = envelopeOf(request);
  request.rpcId = rpc.id;
  if (rpc.method === 'tasks/get') return get(rpc, request, serving);
  const operation = request.dialect.operationOf(rpc.method);
  if (operation === undefined) {
    serving.place.counts.ignored += 1; // reference/dialects §4b: anything else is acknowledged in silence
    return;
  }
  checkTrail(request.properties, serving.agent);
  if (operation === 'cancel') return cancel(rpc, request, serving);
  if (operation === 'send' || operation === 'stream') return send(operation, { rpc, request, serving });
  serving.place.counts.ignored += 1;
}

function envelopeOf(request: Request): RpcRequest {
  const { payload } = request.message;
  if (payload.length > BROKER_DEFAULTS.packetBytesMax) throw new A2AError('PAYLOAD_TOO_LARGE');
  const parsed = parseJson(payload, ENV.limits.jsonDepthMax, JSON_MEMBERS_MAX);
  if (!parsed.ok) throw parsed.error;
  request.rpcId = readableId(parsed.value);
  const envelope = requestObject(parsed.value);
  request.dialect = spellingOf(envelope);
  return readEnvelope(envelope, request.dialect.envelope ?? {});
}

function checkTrail({ trail }: Properties, { name }: MeshAgent): void {
  if (trail.depth > CALL_DEPTH_MAX) {
    throw new A2AError('INVALID_REQUEST', `this request was delegated ${trail.depth} times; at most ${CALL_DEPTH_MAX} are allowed`);
  }
  if (trail.agents.includes(name)) {
    throw new A2AError('INVALID_REQUEST', `${name} waits for ${trail.agents.at(-1)} already, which has delegated this back to it`);
  }
}

/** The last level of an answer's topic names the task, where there is a level for it. */
function nameIn({ replyTo }: Properties): string | undefined {
  const levels = replyTo?.split('/response/')[1]?.split('/') ?? [];
  return levels.length === 2 && levels[1] !== '' ? levels[1] : undefined;
}

interface Sending {
  readonly rpc: RpcRequest;
  readonly request: Request;
  readonly serving: Serving;
}

async function send(operation: 'send' | 'stream', { rpc, request, serving }: Sending): Promise<void> {
  const { properties, dialect, topic } = request;
  const { agent, place } = serving;
  const env = { ...ENV, rpcId: nameIn(properties) ?? rpc.id };
  const decoded: Requests['send'] = requestOf(operation, rpc.params, { dialect, env });
  const { statusTopic, userId } = properties;
  const address = { rpcId: rpc.id, replyTo: topic, userId, ...(statusTopic === undefined ? {} : { statusTopic }) };
  const ctx = contextOf(request, serving);
  const kept: CallContext = { ...ctx, idempotencyKey: keyOf(decoded, properties), notes: callPathMetadata(properties) };
  if (agent.service.keepsReplies !== true) return follow({ agent, place, asked: decoded, ctx: kept, address });
  const configuration = { ...decoded.configuration, returnImmediately: true };
  await agent.service.send({ ...decoded, configuration }, { ...kept, reply: writeAddress(address) });
}

/** At least once is what a broker promises: the same message of the same client is one. */
function keyOf({ alias, message }: SendRequest, { clientId }: Properties): string {
  return JSON.stringify(['mesh', clientId, alias ?? '', message.messageId]);
}

function contextOf({ properties, dialect }: Request, { place, signal }: Serving): CallContext {
  return {
    // Whoever may publish on the broker says who it is: never one of those whom HTTP has let in.
    principal: { id: `mesh:${place.namespace}:${properties.userId}`, scopes: place.scopes },
    dialect: dialect.id,
    extensions: [],
    signal,
  };
}

async function cancel(rpc: RpcRequest, request: Request, serving: Serving): Promise<void> {
  const { agent, place, isRelayed } = serving;
  const decoded = requestOf('cancel', rpc.params, { dialect: request.dialect, env: ENV });
  try {
    const task = await agent.service.cancel(decoded, contextOf(request, serving));
    if (request.properties.replyTo !== undefined) await tell(task, request, serving);
  } catch (thrown) {
    if (!isUnknown(thrown) || isRelayed === true) throw thrown;
    await relay(request, getEveryInstanceTopic(place.namespace, agent.name), place);
  }
}

/** Ours alone: SAM has no way to ask, and is silent. */
async function get(rpc: RpcRequest, request: Request, serving: Serving): Promise<void> {
  const { agent, place, isRelayed } = serving;
  const id = isObject(rpc.params) ? rpc.params['id'] : undefined;
  if (typeof id !== 'string') throw new A2AError('INVALID_PARAMS', 'must be a text', { field: 'id' });
  try {
    await tell(await agent.service.get({ id: taskId(id) }, contextOf(request, serving)), request, serving);
  } catch (thrown) {
    if (!isUnknown(thrown) || isRelayed === true) throw thrown;
    await relay(request, getEveryInstanceTopic(place.namespace, agent.name), place);
  }
}

async function tell(task: Task, request: Request, { place }: Serving): Promise<void> {
  const result = request.dialect.encode('cancel.result', task);
  const payload = new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', id: request.rpcId, result }));
  await place.broker.publish({ topic: request.topic, payload, contentType: 'application/json' });
}

function isUnknown(thrown: unknown): boolean {
  return isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND';
}

/** The replica that has the task answers; if none has, nobody does. */
async function relay({ message }: Request, topic: string, { broker }: MeshContext): Promise<void> {
  const { payload, properties, responseTopic } = message;
  await broker.publish({ topic, payload, properties, ...(responseTopic === undefined ? {} : { responseTopic }) });
}
