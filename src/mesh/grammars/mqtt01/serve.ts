import type { RpcRequest } from '#bindings';
import { requestOf } from '#bindings';
import type { A2AService, CallContext, Json, Operation, Principal, ReadEnv, Requests, SendRequest } from '#protocol';
import { A2AError, behave, countedIds, DEFAULT_READ_LIMITS, isStreamOperation } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshAgent, MeshContext, Stop } from '../grammar.ts';
import { CALL_DEPTH_MAX } from '../grammar.ts';
import { callPathMetadata } from '../shared/call-path.ts';
import { follow } from './follow.ts';
import { AUTHORIZATION, trailIn } from './properties.ts';
import { publishError, resultMessage } from './reply.ts';
import type { MqttReplyAddress } from './reply-address.ts';
import { writeAddress } from './reply-address.ts';
import type { MqttRequest } from './request.ts';
import { artifactsIn, checkName, envelopeOf, requestIn } from './request.ts';
import type { MqttSettings } from './settings.ts';
import { SPOKEN } from './settings.ts';
import { clientIdOf, poolGroup, readNamespace } from './topics.ts';

const ENV: ReadEnv = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };

interface Serving {
  readonly agent: MeshAgent;
  readonly place: MeshContext;
  readonly mqtt: MqttSettings;
  readonly signal: AbortSignal;
}

/** Answers what is asked of one agent on its own topic, and on those of its pools. */
export async function serveMqtt(agent: MeshAgent, place: MeshContext, mqtt: MqttSettings): Promise<Stop> {
  const own = new AbortController();
  const where = readNamespace(place.namespace);
  const { pools = [] } = mqtt.options;
  const serving: Serving = { agent: { ...agent, service: behave(agent.service, SPOKEN.traits) }, place, mqtt, signal: own.signal };
  const handle = (message: ReceivedMessage): Promise<void> => taken(message, serving);
  if (pools.length > 0 && mqtt.topics.root.startsWith('$')) {
    place.report(`pools under ${mqtt.topics.root} hear nothing on Mosquitto; choose a root without $, as a2a/v1, for all of this mesh`);
  }
  const stops = [await place.broker.subscribe({ filter: mqtt.topics.request({ ...where, agent: agent.name }), handle })];
  for (const pool of pools) {
    stops.push(await place.broker.subscribe({ filter: mqtt.topics.pool(where, pool), group: poolGroup(where, pool), handle }));
  }
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
    own.abort();
  };
}

/** Resolves when the request may be acknowledged: it is kept, or answered, or nobody can be told of it. */
async function taken(message: ReceivedMessage, serving: Serving): Promise<void> {
  const { counts } = serving.place;
  // Requests are never kept by a broker: a kept one was put there for everybody who ever comes (reference/faults B8).
  if (message.isRetained) {
    counts.ignored += 1;
    return;
  }
  const request = requestIn(message, serving.mqtt.topics);
  if (request === undefined) {
    counts.dropped += 1;
    return;
  }
  try {
    await answered(request, serving);
  } catch (thrown) {
    await refused(thrown, request, serving);
  }
}

async function refused(thrown: unknown, request: MqttRequest, { agent, place, signal }: Serving): Promise<void> {
  const error = A2AError.from(thrown);
  if (error.kind === 'UNAVAILABLE' && signal.aborted) throw error; // not taken, so not acknowledged: it comes again
  if (error.kind === 'INTERNAL_ERROR') place.report('a request over the broker failed inside', error.cause ?? error);
  place.counts.refused += 1;
  const { correlation } = request.message;
  const refusal = { topic: request.topic, rpcId: request.rpcId, agent: agent.name };
  await publishError(error, correlation === undefined ? refusal : { ...refusal, correlation }, place);
}

async function answered(request: MqttRequest, serving: Serving): Promise<void> {
  const { agent, place } = serving;
  const rpc = envelopeOf(request);
  const ctx = await contextOf(request, serving);
  const operation = SPOKEN.operationOf(rpc.method);
  if (operation === undefined) throw new A2AError('METHOD_NOT_FOUND', `there is no method ${rpc.method.slice(0, 100)}`);
  const address = addressOf(operation, request);
  if (operation === 'send' || operation === 'stream') return send({ operation, rpc, request, serving, ctx, address });
  const decoded = requestOf(operation, rpc.params, { dialect: SPOKEN, env: ENV });
  if (isStreamOperation(operation)) {
    return follow(agent.service.subscribe(decoded as Requests['subscribe'], ctx), { agent: agent.name, place, address });
  }
  const result = await RUN[operation](agent.service, decoded as never, ctx);
  await place.broker.publish(resultMessage(result, agent.name, address));
}

type Unary = Exclude<Operation, 'send' | 'stream' | 'subscribe'>;
type Run<Op extends Unary> = (service: A2AService, request: Requests[Op], ctx: CallContext) => Promise<Json>;

const RUN: { readonly [Op in Unary]: Run<Op> } = {
  get: async (service, request, ctx) => SPOKEN.encode('get.result', await service.get(request, ctx)),
  list: async (service, request, ctx) => SPOKEN.encode('list.result', await service.list(request, ctx)),
  cancel: async (service, request, ctx) => SPOKEN.encode('cancel.result', await service.cancel(request, ctx)),
  'push.create': async (service, request, ctx) => SPOKEN.encode('push.create.result', await service.push.create(request, ctx)),
  'push.get': async (service, request, ctx) => SPOKEN.encode('push.get.result', await service.push.get(request, ctx)),
  'push.list': async (service, request, ctx) => SPOKEN.encode('push.list.result', await service.push.list(request, ctx)),
  'push.delete': async (service, request, ctx) => {
    await service.push.delete(request, ctx);
    return null;
  },
  extendedCard: async (service, request, ctx) => SPOKEN.encode('extendedCard.result', await service.extendedCard(request, ctx)),
  card: async () => {
    throw new A2AError('METHOD_NOT_FOUND', 'the card is on the topic of discovery');
  },
};

function addressOf(operation: Operation, { message, rpcId, topic }: MqttRequest): MqttReplyAddress {
  return {
    rpcId,
    topic,
    correlation: message.correlation ?? new Uint8Array(),
    wants: operation === 'send' ? 'task' : 'events',
    artifacts: artifactsIn(message),
  };
}

interface Sending {
  readonly operation: 'send' | 'stream';
  readonly rpc: RpcRequest;
  readonly request: MqttRequest;
  readonly serving: Serving;
  readonly ctx: CallContext;
  readonly address: MqttReplyAddress;
}

async function send({ operation, rpc, request, serving, ctx, address }: Sending): Promise<void> {
  const { agent, place } = serving;
  const decoded: SendRequest = requestOf(operation, rpc.params, { dialect: SPOKEN, env: ENV });
  checkName(decoded);
  const trail = trailIn(request.message.properties);
  checkTrail(trail, agent);
  const { clientId, userId } = { clientId: clientIdOf(request.requester), userId: ctx.principal.id };
  // At least once is what a broker promises, and each attempt has a correlation of its own: the same message to the same task is one.
  const idempotencyKey = JSON.stringify(['mqtt', decoded.alias, decoded.message.messageId]);
  const kept: CallContext = { ...ctx, idempotencyKey, notes: callPathMetadata({ clientId, userId, trail }) };
  if (operation === 'send' && decoded.configuration?.returnImmediately === true) {
    const result = await agent.service.send(decoded, kept);
    await place.broker.publish(resultMessage(SPOKEN.encode('send.result', result), agent.name, address));
    return;
  }
  if (agent.service.keepsReplies !== true) return follow(agent.service.stream(decoded, kept), { agent: agent.name, place, address });
  const configuration = { ...decoded.configuration, returnImmediately: true };
  await agent.service.send({ ...decoded, configuration }, { ...kept, reply: writeAddress(address) });
}

function checkTrail({ depth, agents }: { readonly depth: number; readonly agents: readonly string[] }, { name }: MeshAgent): void {
  if (depth > CALL_DEPTH_MAX) {
    throw new A2AError('INVALID_REQUEST', `this request was delegated ${depth} times; at most ${CALL_DEPTH_MAX} are allowed`);
  }
  if (agents.includes(name))
    throw new A2AError('INVALID_REQUEST', `${name} waits already for ${agents.at(-1)}, which has delegated this back`);
}

/** Whoever may publish on the broker says who it is, by where it wants its answers; or a token does, and then nothing else. */
async function contextOf({ message, requester }: MqttRequest, { mqtt, place, signal }: Serving): Promise<CallContext> {
  const { authenticate } = mqtt.options;
  const principal: Principal =
    authenticate === undefined
      ? { id: `mesh:${place.namespace}:${clientIdOf(requester)}`, scopes: place.scopes }
      : await authenticate(message.properties[AUTHORIZATION]);
  const { traceparent } = message.properties;
  return { principal, dialect: SPOKEN.id, extensions: [], signal, ...(traceparent === undefined ? {} : { trace: { traceparent } }) };
}
