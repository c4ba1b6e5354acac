import type { RpcRequest } from '#bindings';
import { decodeRequest, readableId, readEnvelope, requestObject, resultText } from '#bindings';
import type { CallContext, Dialect, ReadEnv, RpcId, SendRequest, Task } from '#protocol';
import { A2AError, behave, countedIds, DEFAULT_READ_LIMITS, isObject, taskId, tenantId } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshAgent, MeshContext, Stop } from '../grammar.ts';
import { checkCallPath, originMetadata } from '../shared/call-path.ts';
import { followStream } from '../shared/follow.ts';
import { encode, JSON_TYPE, parseRequest } from '../shared/messages.ts';
import type { RequestHandling, Serving } from '../shared/requests.ts';
import { handleRequest, isTaskNotFound, stopServing } from '../shared/requests.ts';
import { dialectOf, spellingOf, WIRE } from './dialects.ts';
import { getEveryInstanceTopic, getInstanceTopic } from './instance-topics.ts';
import type { SamProperties } from './properties.ts';
import { readProperties } from './properties.ts';
import { publishError, publishReplyTo } from './reply.ts';
import { writeAddress } from './reply-address.ts';
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
    isSilent: (error) => serving.isRelayed === true && isTaskNotFound(error),
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

/** Handles one request. Unknown methods are ignored, as SAM does. */
async function respond(request: SamRequest, serving: SamServing): Promise<void> {
  const rpc = envelopeOf(request);
  request.rpcId = rpc.id;
  if (rpc.method === 'tasks/get') return get(rpc, request, serving);
  const operation = request.dialect.operationOf(rpc.method);
  if (operation === undefined) {
    serving.mesh.counts.ignored += 1; // SAM acknowledges unknown methods and sends nothing (docs/dialects/sam.md)
    return;
  }
  checkCallPath(request.properties.callPath, serving.agent.name);
  if (operation === 'cancel') return cancel(rpc, request, serving);
  if (operation === 'send' || operation === 'stream') return send(operation, { rpc, request, serving });
  serving.mesh.counts.ignored += 1;
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
  const decoded: SendRequest = decodeRequest(operation, rpc.params, { dialect, env });
  const { statusTopic, userId } = properties;
  const address = { rpcId: rpc.id, replyTo: topic, userId, ...(statusTopic === undefined ? {} : { statusTopic }) };
  const ctx: CallContext = {
    ...contextOf(request, serving),
    idempotencyKey: idempotencyKeyOf(decoded, properties),
    notes: originMetadata(properties),
  };
  if (agent.service.keepsReplies === true) {
    const configuration = { ...decoded.configuration, returnImmediately: true };
    await agent.service.send({ ...decoded, configuration }, { ...ctx, reply: writeAddress(address) });
    return;
  }
  await followStream(agent.service.stream(decoded, ctx), {
    acceptsMessages: false,
    publish: (events, task) =>
      publishReplyTo(address, { agent: agent.name, dialect: ctx.dialect, events, ...(task === undefined ? {} : { task }) }, mesh),
    publishError: (error) => publishError(error, { topic, rpcId: rpc.id, dialect: dialectOf(ctx.dialect) }, mesh),
  });
}

/** Brokers deliver at least once: the same message of the same client is one request. */
function idempotencyKeyOf({ alias, message }: SendRequest, { clientId }: SamProperties): string {
  return JSON.stringify(['mesh', clientId, alias ?? '', message.messageId]);
}

/** The call's context. The user id is a claim, because the broker does not verify it. */
function contextOf({ properties, dialect }: SamRequest, { mesh, signal }: SamServing): CallContext {
  return {
    // Anyone who may publish on the broker can claim any user id, so it is never a principal of the HTTP side.
    principal: { id: `mesh:${mesh.namespace}:${properties.userId}`, scopes: mesh.scopes },
    // A message of this mesh carries no credential, so it belongs to no tenant.
    tenant: tenantId(''),
    dialect: dialect.id,
    extensions: [],
    signal,
  };
}

async function cancel(rpc: RpcRequest, request: SamRequest, serving: SamServing): Promise<void> {
  const decoded = decodeRequest('cancel', rpc.params, { dialect: request.dialect, env: ENV });
  await orRelay(request, serving, async () => {
    const task = await serving.agent.service.cancel(decoded, contextOf(request, serving));
    if (request.properties.replyTo !== undefined) await publishTask(task, request, serving);
  });
}

/** Parley's own method. SAM's agents do not respond to it. */
async function get(rpc: RpcRequest, request: SamRequest, serving: SamServing): Promise<void> {
  const id = isObject(rpc.params) ? rpc.params['id'] : undefined;
  if (typeof id !== 'string') throw new A2AError('INVALID_PARAMS', 'must be a string', { field: 'id' });
  await orRelay(request, serving, async () => {
    await publishTask(await serving.agent.service.get({ id: taskId(id) }, contextOf(request, serving)), request, serving);
  });
}

async function publishTask(task: Task, request: SamRequest, { mesh }: SamServing): Promise<void> {
  const result = request.dialect.encode('cancel.result', task);
  await mesh.broker.publish({ topic: request.topic, payload: encode(resultText(request.rpcId, result)), contentType: JSON_TYPE });
}

/**
 * When this replica does not have the task, sends the request to all replicas. The one that has it
 * responds; if none has, nobody does.
 */
async function orRelay({ message }: SamRequest, { agent, mesh, isRelayed }: SamServing, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (thrown) {
    if (!isTaskNotFound(thrown) || isRelayed === true) throw thrown;
    const { payload, properties, responseTopic } = message;
    const topic = getEveryInstanceTopic(mesh.namespace, agent.name);
    await mesh.broker.publish({ topic, payload, properties, ...(responseTopic === undefined ? {} : { responseTopic }) });
  }
}
