import type { RpcRequest } from '#bindings';
import { decodeRequest, readableId, readEnvelope, requestObject, resultText } from '#bindings';
import type { CallContext, Dialect, Part, ReadEnv, RpcId, SendRequest, Task } from '#protocol';
import { A2AError, behave, countedIds, DEFAULT_READ_LIMITS, isObject, taskId, tenantId } from '#protocol';
import { toBytes } from '../../artifacts/parts.ts';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshAgent, MeshContext, ServedPart, Stop } from '../grammar.ts';
import { checkCallPath, originMetadata } from '../shared/call-path.ts';
import { checkExtensions } from '../shared/extensions.ts';
import { followStream } from '../shared/follow.ts';
import { encode, fitsBroker, JSON_TYPE, parseRequest, tooLarge } from '../shared/messages.ts';
import type { RelayedRun, Relaying } from '../shared/relay.ts';
import { confirmRelay, FOUND, isInOtherCells, orRelay, relayTopics } from '../shared/relay.ts';
import type { RequestHandling } from '../shared/requests.ts';
import { handleRequest, isNotHere, stopServing } from '../shared/requests.ts';
import { asAnswer } from './answer.ts';
import { dialectOf, spellingOf, WIRE } from './dialects.ts';
import { invocationIn, invokedMessage } from './invocation.ts';
import type { SamTaskOwner } from './owners.ts';
import { findOwner, rememberOwner } from './owners.ts';
import type { SamProperties } from './properties.ts';
import { DEFAULT_USER, readProperties } from './properties.ts';
import { publishError, publishReplyTo } from './reply.ts';
import type { SamReplyAddress } from './reply-address.ts';
import { callerIn, writeAddress } from './reply-address.ts';
import { getAgentRequestTopic, getClientResponseTopic } from './topics.ts';

const ENV: ReadEnv = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };

/** A request whose response topic is known. */
interface SamRequest {
  readonly message: ReceivedMessage;
  readonly properties: SamProperties;
  readonly topic: string;
  dialect: Dialect;
  rpcId: RpcId;
}

/**
 * Serves one agent. Replicas share its request topic, unless one of them has it on a connection of the
 * agent. Each replica also has a topic of its own, and one that all replicas receive.
 */
export async function serveSam(agent: MeshAgent, mesh: MeshContext, part?: ServedPart): Promise<Stop> {
  const controller = new AbortController();
  const topic = getAgentRequestTopic(mesh.namespace, agent.name);
  const relays = relayTopics(topic, mesh);
  const served = { ...agent, service: behave(agent.service, WIRE.traits) };
  const serving: Relaying = { agent: served, mesh, signal: controller.signal, relays };
  const relayed: Relaying = { ...serving, isRelayed: true };
  const handle = (message: ReceivedMessage): Promise<void> => handleRequest(message, serving, handlingFor(serving));
  const stops: Stop[] = [];
  if (part !== 'relayed') {
    const broker = part?.requestsFrom ?? mesh.broker;
    // Mosquitto drops what a member of a group has not acknowledged. A connection that the broker remembers gets it again.
    const isAlone = part !== undefined && broker.features.redelivers;
    stops.push(await broker.subscribe({ filter: topic, ...(isAlone ? {} : { group: `parley-${agent.name}` }), handle }));
  }
  if (part === undefined || part === 'relayed') {
    stops.push(await mesh.broker.subscribe({ filter: relays.own, handle }));
    const handleRelayed = (message: ReceivedMessage): Promise<void> => handleRequest(message, relayed, handlingFor(relayed));
    stops.push(await mesh.broker.subscribe({ filter: relays.every, handle: handleRelayed }));
  }
  return stopServing(stops, controller);
}

function handlingFor(serving: Relaying): RequestHandling<SamRequest> {
  return {
    read: (message) => readRequest(message, serving.mesh.namespace),
    respond: (request) => respond(request, serving),
    refuse: (error, request) => publishError(error, request, serving.mesh),
    isSilent: (error) => serving.isRelayed === true && isNotHere(error),
  };
}

function readRequest(message: ReceivedMessage, namespace: string): SamRequest | undefined {
  const properties = readProperties(message, namespace);
  const topic = properties === undefined ? undefined : (properties.replyTo ?? clientTopic(namespace, properties.clientId));
  return properties === undefined || topic === undefined ? undefined : { message, properties, topic, dialect: WIRE, rpcId: null };
}

function clientTopic(namespace: string, clientId: string): string | undefined {
  try {
    return getClientResponseTopic(namespace, clientId);
  } catch {
    return undefined;
  }
}

/** Handles one request. */
async function respond(request: SamRequest, serving: Relaying): Promise<void> {
  const rpc = envelopeOf(request);
  request.rpcId = rpc.id;
  const { agent } = serving;
  if (rpc.method === FOUND) return confirmRelay(rpc.params, serving.mesh);
  if (rpc.method === 'tasks/get') return get(rpc, request, serving);
  const operation = request.dialect.operationOf(rpc.method);
  if (operation !== 'cancel' && operation !== 'send' && operation !== 'stream') {
    throw new A2AError('METHOD_NOT_FOUND', `${agent.name} has no method ${String(rpc.method).slice(0, 100)}`);
  }
  checkCallPath(request.properties.callPath, agent.name);
  return operation === 'cancel' ? cancel(rpc, request, serving) : send(operation, { rpc, request, serving });
}

function envelopeOf(request: SamRequest): RpcRequest {
  const parsed = parseRequest(request.message);
  if (!parsed.ok) throw parsed.error;
  request.rpcId = readableId(parsed.value);
  const envelope = requestObject(parsed.value);
  request.dialect = spellingOf(envelope);
  return readEnvelope(envelope, request.dialect.envelope ?? {});
}

/** The last level of the response topic names the task, if the topic has that level. */
function taskNameIn({ replyTo }: SamProperties): string | undefined {
  const levels = replyTo?.split('/response/')[1]?.split('/') ?? [];
  return levels.length === 2 && levels[1] !== '' ? levels[1] : undefined;
}

interface Sending {
  readonly rpc: RpcRequest;
  readonly request: SamRequest;
  readonly serving: Relaying;
}

/** Starts or continues a task. Its events are published from the log. */
async function send(operation: 'send' | 'stream', { rpc, request, serving }: Sending): Promise<void> {
  const { properties, dialect, topic } = request;
  const { agent, mesh } = serving;
  const env = { ...ENV, rpcId: taskNameIn(properties) ?? rpc.id };
  const given: SendRequest = decodeRequest(operation, rpc.params, { dialect, env });
  checkExtensions(agent.card, properties.extensions, given.message);
  const address = addressOf(given, request, agent.name);
  const decoded = await readableBy(agent.name, { given, address, mesh });
  const { userId } = address;
  rememberOwner(mesh, { agent: agent.name, task: decoded.alias ?? '' }, ownerFor(request, userId));
  const ctx: CallContext = {
    ...contextOf(request, serving, userId),
    idempotencyKey: idempotencyKeyOf(decoded, properties),
    notes: originMetadata({ ...properties, userId }),
  };
  if (agent.service.keepsReplies === true) {
    const configuration = { ...decoded.configuration, returnImmediately: true };
    const run = async (): Promise<void> => {
      await agent.service.send({ ...decoded, configuration }, { ...ctx, reply: writeAddress(address) });
    };
    // A message for a task that does not exist is refused at once. A task in the cells of another replica exists.
    return orRelay(request, serving, { ...refusing(request, serving, run), isElsewhere: isInOtherCells });
  }
  await followStream(agent.service.stream(decoded, ctx), {
    acceptsMessages: false,
    publish: (events, task) =>
      publishReplyTo(address, { agent: agent.name, dialect: ctx.dialect, events, ...(task === undefined ? {} : { task }) }, mesh),
    publishError: (error) => publishError(error, { topic, rpcId: rpc.id, dialect: dialectOf(ctx.dialect) }, mesh),
  });
}

function addressOf({ message }: SendRequest, { properties, topic, rpcId }: SamRequest, agent: string): SamReplyAddress {
  const { statusTopic, userId = DEFAULT_USER, clientId, readsArtifacts } = properties;
  const invocation = invocationIn(message);
  return {
    rpcId,
    replyTo: topic,
    userId,
    clientId,
    agent,
    ...(statusTopic === undefined ? {} : { statusTopic }),
    ...(readsArtifacts ? { readsArtifacts } : {}),
    ...(invocation === undefined ? {} : { invocation }),
  };
}

interface Given {
  readonly given: SendRequest;
  readonly address: SamReplyAddress;
  readonly mesh: MeshContext;
}

/** The request as an agent can use it: with the files themselves where a program of SAM names them in the shared store. */
async function readableBy(app: string, { given, address, mesh }: Given): Promise<SendRequest> {
  const { message } = given;
  const owner = { app, user: address.userId, session: message.contextId ?? address.userId };
  const { invocation, readsArtifacts } = address;
  if (invocation !== undefined) return { ...given, message: await invokedMessage(message, owner, mesh.artifacts) };
  if (readsArtifacts === true) return given;
  const parts = withoutArrival(message.parts);
  return { ...given, message: { ...message, parts: mesh.artifacts === undefined ? parts : await toBytes(mesh.artifacts, owner, parts) } };
}

/** SAM's gateways put the time before the user's words, for language models. */
function withoutArrival(parts: readonly Part[]): readonly Part[] {
  const [first, ...rest] = parts;
  return rest.length > 0 && /^Request received by gateway at: \S+$/.test(first?.text ?? '') ? rest : parts;
}

function ownerFor({ properties, topic, dialect }: SamRequest, userId: string): SamTaskOwner {
  return { userId, clients: [properties.clientId, callerIn(topic)], dialect: dialect.id };
}

/** Brokers deliver at least once: the same message of the same client is one request. */
function idempotencyKeyOf({ alias, message }: SendRequest, { clientId }: SamProperties): string {
  return JSON.stringify(['mesh', clientId, alias ?? '', message.messageId]);
}

/** The call's context. The user id is a claim, because the broker does not verify it. */
function contextOf({ message, properties, dialect }: SamRequest, { mesh, signal }: Relaying, userId: string): CallContext {
  const { traceparent } = message.properties;
  return {
    // Anyone who may publish on the broker can claim any user id, so it is never a principal of the HTTP side.
    principal: { id: `mesh:${mesh.namespace}:${userId}`, scopes: mesh.scopes },
    // A message of this mesh carries no credential, so it belongs to no tenant.
    tenant: tenantId(''),
    dialect: dialect.id,
    extensions: properties.extensions,
    signal,
    ...(traceparent === undefined ? {} : { trace: { traceparent } }),
  };
}

/**
 * The user on whose behalf a request about a task comes, and its spelling. SAM's agents name only
 * themselves: the client that sent a task may cancel it.
 */
function aboutTask(id: string, request: SamRequest, { agent, mesh }: Relaying): string {
  const owner = findOwner(mesh, { agent: agent.name, task: id });
  if (owner !== undefined && request.dialect === WIRE) request.dialect = dialectOf(owner.dialect);
  const { userId, clientId } = request.properties;
  if (userId !== undefined) return userId;
  return owner?.clients.includes(clientId) === true ? owner.userId : DEFAULT_USER;
}

async function cancel(rpc: RpcRequest, request: SamRequest, serving: Relaying): Promise<void> {
  const decoded = decodeRequest('cancel', rpc.params, { dialect: request.dialect, env: ENV });
  const userId = aboutTask(decoded.id, request, serving);
  await orRelay(
    request,
    serving,
    refusing(request, serving, async () => {
      const task = await serving.agent.service.cancel(decoded, contextOf(request, serving, userId));
      if (request.properties.replyTo !== undefined) await publishTask(task, request, serving);
    }),
  );
}

/** Parley's own method. SAM's agents do not respond to it. */
async function get(rpc: RpcRequest, request: SamRequest, serving: Relaying): Promise<void> {
  const id = isObject(rpc.params) ? rpc.params['id'] : undefined;
  if (typeof id !== 'string') throw new A2AError('INVALID_PARAMS', 'must be a string', { field: 'id' });
  const userId = aboutTask(id, request, serving);
  await orRelay(
    request,
    serving,
    refusing(request, serving, async () => {
      await publishTask(await serving.agent.service.get({ id: taskId(id) }, contextOf(request, serving, userId)), request, serving);
    }),
  );
}

/** The error goes to the caller when no replica has the task. */
function refusing(request: SamRequest, { mesh }: Relaying, run: () => Promise<void>): RelayedRun {
  return {
    run,
    refuse: async (error) => {
      mesh.counts.refused += 1;
      await publishError(error, request, mesh);
    },
  };
}

async function publishTask(task: Task, request: SamRequest, { agent, mesh }: Relaying): Promise<void> {
  const { readsArtifacts } = request.properties;
  const result = request.dialect.encode('cancel.result', readsArtifacts ? task : asAnswer(task, agent.name));
  const message = { topic: request.topic, payload: encode(resultText(request.rpcId, result)), contentType: JSON_TYPE };
  if (!fitsBroker(message)) throw new A2AError('PAYLOAD_TOO_LARGE', tooLarge(message));
  await mesh.broker.publish(message);
}
