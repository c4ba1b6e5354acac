import type { RpcRequest } from '#bindings';
import { decodeRequest, readableId, readEnvelope, requestObject, resultText } from '#bindings';
import { ElsewhereError } from '#engine';
import type { CallContext, Dialect, Part, ReadEnv, RpcId, SendRequest, Task } from '#protocol';
import { A2AError, behave, countedIds, DEFAULT_READ_LIMITS, isObject, taskId, tenantId } from '#protocol';
import { toBytes } from '../../artifacts/parts.ts';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshAgent, MeshContext, Stop } from '../grammar.ts';
import { checkCallPath, originMetadata } from '../shared/call-path.ts';
import { checkExtensions } from '../shared/extensions.ts';
import { followStream } from '../shared/follow.ts';
import { encode, fitsBroker, JSON_TYPE, parseRequest, tooLarge } from '../shared/messages.ts';
import type { RequestHandling, Serving } from '../shared/requests.ts';
import { handleRequest, isNotHere, stopServing } from '../shared/requests.ts';
import { asAnswer } from './answer.ts';
import { dialectOf, spellingOf, WIRE } from './dialects.ts';
import { getEveryInstanceTopic, getInstanceTopic } from './instance-topics.ts';
import { invocationIn, invokedMessage } from './invocation.ts';
import type { SamTaskOwner } from './owners.ts';
import { findOwner, rememberOwner } from './owners.ts';
import type { SamProperties } from './properties.ts';
import { DEFAULT_USER, readProperties } from './properties.ts';
import type { RelayedRun } from './relay.ts';
import { confirmRelay, FOUND, orRelay } from './relay.ts';
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

interface SamServing extends Serving {
  /** Another replica does not have the task and sent the request to all replicas. */
  readonly isRelayed?: true;
}

/**
 * Serves one agent. Replicas share its request topic. Each replica also has a topic of its own, and one
 * that all replicas receive.
 */
export async function serveSam(agent: MeshAgent, mesh: MeshContext): Promise<Stop> {
  const { broker, namespace } = mesh;
  const controller = new AbortController();
  const serving: SamServing = { agent: { ...agent, service: behave(agent.service, WIRE.traits) }, mesh, signal: controller.signal };
  const handle = (message: ReceivedMessage): Promise<void> => handleRequest(message, serving, handlingFor(serving));
  const relayed: SamServing = { ...serving, isRelayed: true };
  return stopServing(
    [
      await broker.subscribe({ filter: getAgentRequestTopic(namespace, agent.name), group: `parley-${agent.name}`, handle }),
      await broker.subscribe({ filter: getInstanceTopic(mesh, agent.name), handle }),
      await broker.subscribe({
        filter: getEveryInstanceTopic(namespace, agent.name),
        handle: (message) => handleRequest(message, relayed, handlingFor(relayed)),
      }),
    ],
    controller,
  );
}

function handlingFor(serving: SamServing): RequestHandling<SamRequest> {
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
async function respond(request: SamRequest, serving: SamServing): Promise<void> {
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
  readonly serving: SamServing;
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
    const isElsewhere = (thrown: unknown): boolean => thrown instanceof ElsewhereError;
    return orRelay(request, serving, { ...refusing(request, serving, run), isElsewhere });
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
function contextOf({ message, properties, dialect }: SamRequest, { mesh, signal }: SamServing, userId: string): CallContext {
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
function aboutTask(id: string, request: SamRequest, { agent, mesh }: SamServing): string {
  const owner = findOwner(mesh, { agent: agent.name, task: id });
  if (owner !== undefined && request.dialect === WIRE) request.dialect = dialectOf(owner.dialect);
  const { userId, clientId } = request.properties;
  if (userId !== undefined) return userId;
  return owner?.clients.includes(clientId) === true ? owner.userId : DEFAULT_USER;
}

async function cancel(rpc: RpcRequest, request: SamRequest, serving: SamServing): Promise<void> {
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
async function get(rpc: RpcRequest, request: SamRequest, serving: SamServing): Promise<void> {
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
function refusing(request: SamRequest, { mesh }: SamServing, run: () => Promise<void>): RelayedRun {
  return {
    run,
    refuse: async (error) => {
      mesh.counts.refused += 1;
      await publishError(error, request, mesh);
    },
  };
}

async function publishTask(task: Task, request: SamRequest, { agent, mesh }: SamServing): Promise<void> {
  const { readsArtifacts } = request.properties;
  const result = request.dialect.encode('cancel.result', readsArtifacts ? task : asAnswer(task, agent.name));
  const message = { topic: request.topic, payload: encode(resultText(request.rpcId, result)), contentType: JSON_TYPE };
  if (!fitsBroker(message)) throw new A2AError('PAYLOAD_TOO_LARGE', tooLarge(message));
  await mesh.broker.publish(message);
}
