import { serviceOver } from '#bindings';
import type {
  A2AService,
  CallContext,
  ContextId,
  Decoded,
  Logged,
  Operation,
  Requests,
  Results,
  SendRequest,
  Shape,
  Shapes,
  UnaryOperation,
} from '#protocol';
import { A2AError, contextId, DEFAULT_READ_LIMITS, externalId, randomIds, taskId } from '#protocol';
import { resultFrom } from '../shared/result.ts';
import type { MqttExchange, MqttLinkContext } from './exchange.ts';
import { exchange, poolIn } from './exchange.ts';
import { readStream } from './read-stream.ts';
import { isUuid } from './request.ts';
import { DIALECT } from './settings.ts';

const ENV = { ids: randomIds, limits: DEFAULT_READ_LIMITS };

/** An agent, or a pool of agents, on an MQTT broker as an `A2AService`. */
export function mqttLink(link: MqttLinkContext): A2AService {
  const streams = (operation: Operation): never => {
    throw new A2AError('UNSUPPORTED_OPERATION', `${operation} is not a stream`);
  };
  return {
    ...serviceOver({ unary: (operation, request, ctx) => query(link, { operation, request, ctx }), stream: streams }),
    // A send is a stream: an agent that takes long sends events, and the request is not repeated (A2A over MQTT 0.1 §6). With an agent that
    // publishes all events when the message is repeated, the first attempt asks for the result only, which is one message.
    send: (request, ctx) => {
      const finalOnly = request.configuration?.returnImmediately !== true && link.peer.isParley && poolIn(link.options) === undefined;
      return resultFrom(stream(link, { given: request, finalOnly }, ctx), { request, agent: link.options.agent });
    },
    stream: (request, ctx) => stream(link, { given: request, finalOnly: false }, ctx),
    subscribe: (request, ctx) => subscribe(link, request, ctx),
  };
}

interface Sending {
  readonly given: SendRequest;
  /** The first attempt asks for the result only, and not for every event. */
  readonly finalOnly: boolean;
}

/**
 * Sends a message and yields its events. The requester chooses the task's name, so that a repeated
 * request starts nothing new.
 */
async function* stream(link: MqttLinkContext, { given, finalOnly }: Sending, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
  const { mesh } = link;
  const wanted = given.alias ?? given.message.taskId;
  const alias = externalId(wanted !== undefined && isUuid(wanted) ? wanted : crypto.randomUUID());
  // The requester also creates the context (A2A over MQTT 0.1 §4). The responder knows the context of an existing task.
  const context: ContextId | undefined = given.message.contextId ?? (wanted === undefined ? contextId(mesh.ids.next()) : undefined);
  const { configuration, ...rest } = given;
  const { returnImmediately: _, taskPushNotificationConfig: __, ...kept } = configuration ?? {};
  const { taskId: ___, ...message } = given.message;
  const request: SendRequest = {
    ...rest,
    message: context === undefined ? message : { ...message, contextId: context },
    ...(Object.keys(kept).length === 0 ? {} : { configuration: kept }),
    alias,
  };
  const sent: MqttExchange = {
    method: DIALECT.methods.stream ?? '',
    ...(finalOnly && DIALECT.methods.send !== undefined ? { firstMethod: DIALECT.methods.send } : {}),
    params: DIALECT.encode('stream.request', request),
    ctx,
    task: alias,
    ...(context === undefined ? {} : { contextId: context }),
    ...(wanted === undefined ? { isNew: true } : {}),
  };
  yield* readStream(link, sent, () => query(link, { operation: 'get', request: { id: taskId(alias) }, ctx }));
}

async function* subscribe(link: MqttLinkContext, request: Requests['subscribe'], ctx: CallContext): AsyncGenerator<readonly Logged[]> {
  const params = DIALECT.encode('subscribe.request', request);
  const sent: MqttExchange = { method: DIALECT.methods.subscribe ?? '', params, ctx, task: request.id };
  yield* readStream(link, sent, () => query(link, { operation: 'get', request: { id: request.id }, ctx }));
}

interface Query<Op extends UnaryOperation> {
  readonly operation: Op;
  readonly request: Requests[Op];
  readonly ctx: CallContext;
}

/** One request with one response. */
async function query<Op extends UnaryOperation>(link: MqttLinkContext, { operation, request, ctx }: Query<Op>): Promise<Results[Op]> {
  const sent: MqttExchange = {
    method: methodOf(operation),
    params: DIALECT.encode(`${operation}.request` as Shape, request as Shapes[Shape]),
    ctx,
    ...taskIn(request),
  };
  for await (const response of exchange(link, sent)) {
    if (response?.error !== undefined) throw response.error;
    if (response === undefined || response.chunk !== undefined) continue;
    const decoded = DIALECT.decode(`${operation}.result` as Shape, response.result, ENV) as Decoded<Results[Op]>;
    if (decoded.ok) return decoded.value;
    throw new A2AError('INVALID_AGENT_RESPONSE', `the response of ${link.options.agent} can't be read`);
  }
  throw new A2AError('UNAVAILABLE', `${link.options.agent} has not responded`);
}

function methodOf(operation: Operation): string {
  const method = DIALECT.methods[operation];
  if (method === undefined) throw new A2AError('UNSUPPORTED_OPERATION', `${DIALECT.title} has no ${operation}`);
  return method;
}

function taskIn(request: object): { readonly task?: string } {
  const id: unknown = 'taskId' in request ? request.taskId : 'id' in request ? request.id : undefined;
  return typeof id === 'string' ? { task: id } : {};
}
