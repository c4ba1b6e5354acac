import type { Caller, RpcRequest } from '#bindings';
import { decodeRequest } from '#bindings';
import type { A2AService, CallContext, EventStream, Json, Operation, ReadEnv, Requests, SendRequest } from '#protocol';
import { A2AError, behave, countedIds, DEFAULT_READ_LIMITS, isObject, tenantId } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshAgent, MeshContext, ServedPart, Stop } from '../grammar.ts';
import { checkCallPath, originMetadata } from '../shared/call-path.ts';
import { checkExtensions, extensionsIn } from '../shared/extensions.ts';
import { followStream } from '../shared/follow.ts';
import { parseRequest } from '../shared/messages.ts';
import type { Relaying } from '../shared/relay.ts';
import { confirmRelay, FOUND, isInOtherCells, orRelay, relayTopics } from '../shared/relay.ts';
import type { RequestHandling } from '../shared/requests.ts';
import { handleRequest, stopServing } from '../shared/requests.ts';
import { AUTHORIZATION, callPathIn } from './properties.ts';
import { publishError, publishReplyTo, resultMessage } from './reply.ts';
import type { MqttReplyAddress } from './reply-address.ts';
import { writeAddress } from './reply-address.ts';
import type { MqttRequest } from './request.ts';
import { artifactModeOf, checkTaskName, envelopeOf, requestIn } from './request.ts';
import type { MqttSettings } from './settings.ts';
import { DIALECT } from './settings.ts';
import { clientIdOf, poolGroup, readNamespace } from './topics.ts';

const ENV: ReadEnv = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };

interface MqttServing extends Relaying {
  readonly mqtt: MqttSettings;
}

/** Serves one agent on its own topic and on those of its pools. Replicas on one store pass requests on to one another. */
export async function serveMqtt(agent: MeshAgent, mesh: MeshContext, { mqtt, part }: MqttPart): Promise<Stop> {
  const controller = new AbortController();
  const unit = readNamespace(mesh.namespace);
  const { pools = [] } = mqtt.options;
  const topic = mqtt.topics.request({ ...unit, agent: agent.name });
  const serving: MqttServing = {
    agent: { ...agent, service: behave(agent.service, DIALECT.traits) },
    mesh,
    mqtt,
    signal: controller.signal,
    relays: relayTopics(topic, mesh),
  };
  if (part === 'relayed') return stopServing(await subscribeRelays(serving), controller);
  if (pools.length > 0 && mqtt.topics.root.startsWith('$')) {
    mesh.report(
      `Mosquitto delivers nothing to pools under ${mqtt.topics.root}; use a root without $, such as a2a/v1, for every member of this mesh`,
    );
  }
  const broker = part?.requestsFrom ?? mesh.broker;
  const handle = (message: ReceivedMessage): Promise<void> => handleRequest(message, serving, handlingFor(serving));
  const subscriptions = [await broker.subscribe({ filter: topic, handle })];
  for (const pool of pools) {
    subscriptions.push(await broker.subscribe({ filter: mqtt.topics.pool(unit, pool), group: poolGroup(unit, pool), handle }));
  }
  return stopServing(subscriptions, controller);
}

interface MqttPart {
  readonly mqtt: MqttSettings;
  readonly part?: ServedPart | undefined;
}

/** What replicas send one another: requests for the replica that has the task, and its word that it does. */
async function subscribeRelays(serving: MqttServing): Promise<readonly Stop[]> {
  const { mesh, relays } = serving;
  const relayed: MqttServing = { ...serving, isRelayed: true };
  const handleFound = (message: ReceivedMessage): void => {
    const parsed = parseRequest(message);
    if (parsed.ok && isObject(parsed.value) && parsed.value['method'] === FOUND) confirmRelay(parsed.value['params'], mesh);
  };
  return [
    await mesh.broker.subscribe({ filter: relays.own, handle: handleFound }),
    await mesh.broker.subscribe({ filter: relays.every, handle: (message) => handleRequest(message, relayed, handlingFor(relayed)) }),
  ];
}

function handlingFor(serving: MqttServing): RequestHandling<MqttRequest> {
  const refused = (error: A2AError, request: MqttRequest): Promise<void> => refuse(error, request, serving);
  return {
    read: (message) => requestIn(message, serving.mqtt.topics),
    respond: (request) =>
      orRelay(request, serving, {
        run: () => respond(request, serving),
        refuse: (error) => refused(error, request),
        isElsewhere: isInOtherCells,
      }),
    refuse: refused,
    isSilent: (error) => serving.isRelayed === true && isInOtherCells(error),
  };
}

async function refuse(error: A2AError, { topic, rpcId, message }: MqttRequest, { agent, mesh }: MqttServing): Promise<void> {
  const { correlation } = message;
  await publishError(error, { topic, rpcId, agent: agent.name, ...(correlation === undefined ? {} : { correlation }) }, mesh);
}

/** Runs the operation of a request and publishes its result or its events. */
async function respond(request: MqttRequest, serving: MqttServing): Promise<void> {
  const { agent, mesh } = serving;
  const rpc = envelopeOf(request);
  const ctx = await contextOf(request, serving);
  const operation = DIALECT.operationOf(rpc.method);
  if (operation === undefined) throw new A2AError('METHOD_NOT_FOUND', `there is no method ${rpc.method.slice(0, 100)}`);
  checkExtensions(agent.card, ctx.extensions);
  const address = addressOf(operation, request);
  if (operation === 'send' || operation === 'stream') return send({ operation, rpc, request, serving, ctx, address });
  if (operation === 'subscribe') {
    return follow(agent.service.subscribe(requestOf(operation, rpc, ctx), ctx), address, serving);
  }
  await mesh.broker.publish(resultMessage(await runUnary(operation, rpc, { serving, ctx }), agent.name, address));
}

type Unary = Exclude<Operation, 'send' | 'stream' | 'subscribe'>;
type Run<Op extends Unary> = (service: A2AService, request: Requests[Op], ctx: CallContext) => Promise<Json>;

function runUnary<Op extends Unary>(
  operation: Op,
  rpc: RpcRequest,
  { serving, ctx }: { readonly serving: MqttServing; readonly ctx: CallContext },
): Promise<Json> {
  const run: Run<Op> = RUN[operation];
  return run(serving.agent.service, requestOf(operation, rpc, ctx), ctx);
}

const RUN: { readonly [Op in Unary]: Run<Op> } = {
  get: async (service, request, ctx) => DIALECT.encode('get.result', await service.get(request, ctx)),
  list: async (service, request, ctx) => DIALECT.encode('list.result', await service.list(request, ctx)),
  cancel: async (service, request, ctx) => DIALECT.encode('cancel.result', await service.cancel(request, ctx)),
  'push.create': async (service, request, ctx) => DIALECT.encode('push.create.result', await service.push.create(request, ctx)),
  'push.get': async (service, request, ctx) => DIALECT.encode('push.get.result', await service.push.get(request, ctx)),
  'push.list': async (service, request, ctx) => DIALECT.encode('push.list.result', await service.push.list(request, ctx)),
  'push.delete': async (service, request, ctx) => {
    await service.push.delete(request, ctx);
    return null;
  },
  extendedCard: async (service, request, ctx) => DIALECT.encode('extendedCard.result', await service.extendedCard(request, ctx)),
  card: async () => {
    throw new A2AError('METHOD_NOT_FOUND', 'the card is on the discovery topic');
  },
};

/** Where the response goes, and in which form. */
function addressOf(operation: Operation, { message, rpcId, topic }: MqttRequest): MqttReplyAddress {
  return {
    rpcId,
    topic,
    correlation: message.correlation ?? new Uint8Array(),
    wants: operation === 'send' ? 'task' : 'events',
    artifacts: artifactModeOf(message),
  };
}

interface Sending {
  readonly operation: 'send' | 'stream';
  readonly rpc: RpcRequest;
  readonly request: MqttRequest;
  readonly serving: MqttServing;
  readonly ctx: CallContext;
  readonly address: MqttReplyAddress;
}

/** Starts or continues a task. Its events are published from the log. */
async function send({ operation, rpc, request, serving, ctx, address }: Sending): Promise<void> {
  const { agent, mesh } = serving;
  const decoded: SendRequest = requestOf(operation, rpc, ctx);
  checkTaskName(decoded);
  const callPath = callPathIn(request.message.properties);
  checkCallPath(callPath, agent.name);
  // Brokers deliver at least once, and each attempt has its own correlation: the same message to the same task is one request.
  const idempotencyKey = JSON.stringify(['mqtt', decoded.alias, decoded.message.messageId]);
  const sending: CallContext = { ...ctx, idempotencyKey, notes: originMetadata({ userId: ctx.principal.id, callPath }) };
  if (operation === 'send' && decoded.configuration?.returnImmediately === true) {
    const result = await agent.service.send(decoded, sending);
    await mesh.broker.publish(resultMessage(DIALECT.encode('send.result', result), agent.name, address));
    return;
  }
  if (agent.service.keepsReplies !== true) return follow(agent.service.stream(decoded, sending), address, serving);
  const configuration = { ...decoded.configuration, returnImmediately: true };
  await agent.service.send({ ...decoded, configuration }, { ...sending, reply: writeAddress(address) });
}

function follow(events: EventStream, address: MqttReplyAddress, { agent, mesh }: MqttServing): Promise<void> {
  const { topic, correlation, rpcId } = address;
  return followStream(events, {
    acceptsMessages: true,
    publish: (batch, task) => publishReplyTo(address, { agent: agent.name, events: batch, ...(task === undefined ? {} : { task }) }, mesh),
    publishError: (error) => publishError(error, { topic, correlation, rpcId, agent: agent.name }, mesh),
  });
}

/** Refuses a request that names another tenant than the credential's. */
function requestOf<Op extends Operation>(operation: Op, { params }: RpcRequest, ctx: CallContext): Requests[Op] {
  const request = decodeRequest(operation, params, { dialect: DIALECT, env: ENV });
  const { tenant = ctx.tenant }: { readonly tenant?: string } = request;
  if (tenant === ctx.tenant) return request;
  throw new A2AError('PERMISSION_DENIED', 'this credential does not belong to that tenant');
}

/**
 * Without `authenticate` the principal comes from the reply topic, which anyone who may publish can
 * choose; it belongs to no tenant.
 */
async function contextOf({ message, requester }: MqttRequest, { mqtt, mesh, signal }: MqttServing): Promise<CallContext> {
  const { authenticate } = mqtt.options;
  const { principal, tenant = tenantId('') }: Caller =
    authenticate === undefined
      ? { principal: { id: `mesh:${mesh.namespace}:${clientIdOf(requester)}`, scopes: mesh.scopes } }
      : await authenticate(message.properties[AUTHORIZATION]);
  const { traceparent } = message.properties;
  return {
    principal,
    tenant,
    dialect: DIALECT.id,
    extensions: extensionsIn(message.properties),
    signal,
    ...(traceparent === undefined ? {} : { trace: { traceparent } }),
  };
}
