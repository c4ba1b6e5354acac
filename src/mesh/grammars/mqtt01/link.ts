import { serviceOver } from '#bindings';
import type {
  A2AService,
  CallContext,
  ContextId,
  Decoded,
  Json,
  Logged,
  Operation,
  Requests,
  Results,
  SendRequest,
  SendResult,
  Shape,
  Shapes,
  Task,
  UnaryOperation,
} from '#protocol';
import { A2AError, contextId, DEFAULT_READ_LIMITS, externalId, randomIds } from '#protocol';
import { answerFrom } from '../shared/result.ts';
import type { MqttExchange, MqttLinkContext } from './exchange.ts';
import { exchange, poolIn } from './exchange.ts';
import { reading } from './read-stream.ts';
import { isUuid } from './request.ts';
import { SPOKEN } from './settings.ts';

const ENV = { ids: randomIds, limits: DEFAULT_READ_LIMITS };

/** An agent, or a pool of them, on an MQTT broker as an `A2AService`. */
export function mqttLink(linked: MqttLinkContext): A2AService {
  return serviceOver({
    unary: <Op extends UnaryOperation>(operation: Op, request: Requests[Op], ctx: CallContext) =>
      operation === 'send'
        ? (send(linked, request as SendRequest, ctx) as unknown as Promise<Results[Op]>)
        : ask(linked, { operation, request, ctx }),
    stream: (operation, request, ctx) =>
      operation === 'stream'
        ? stream(linked, { given: request as SendRequest, isQuiet: false }, ctx)
        : subscribe(linked, request as Requests['subscribe'], ctx),
  });
}

/**
 * As a stream, since a task that takes its time says so and is not asked for again (reference/mqtt §6); but first for the answer alone where
 * the agent is one that, asked once more, says everything: an answer that comes in time is then one message.
 */
async function send(linked: MqttLinkContext, request: SendRequest, ctx: CallContext): Promise<SendResult> {
  const isQuiet = request.configuration?.returnImmediately !== true && linked.learned.isOurs && poolIn(linked.options) === undefined;
  return await answerFrom(stream(linked, { given: request, isQuiet }, ctx), { request, agent: linked.options.agent });
}

interface Sending {
  readonly given: SendRequest;
  readonly isQuiet: boolean;
}

async function* stream(linked: MqttLinkContext, { given, isQuiet }: Sending, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
  const { place } = linked;
  const wanted = given.alias ?? given.message.taskId;
  const alias = externalId(wanted !== undefined && isUuid(wanted) ? wanted : crypto.randomUUID());
  // §4: the requester makes the context, too; one that is going on is the responder's to know.
  const context: ContextId | undefined = given.message.contextId ?? (wanted === undefined ? contextId(place.ids.next()) : undefined);
  const { configuration, ...rest } = given;
  const { returnImmediately: _, taskPushNotificationConfig: __, ...kept } = configuration ?? {};
  const { taskId: ___, ...message } = given.message;
  const request: SendRequest = {
    ...rest,
    message: context === undefined ? message : { ...message, contextId: context },
    ...(Object.keys(kept).length === 0 ? {} : { configuration: kept }),
    alias,
  };
  const asked: MqttExchange = {
    method: SPOKEN.methods.stream ?? '',
    ...(isQuiet && SPOKEN.methods.send !== undefined ? { firstMethod: SPOKEN.methods.send } : {}),
    params: SPOKEN.encode('stream.request', request),
    ctx,
    task: alias,
    ...(context === undefined ? {} : { contextId: context }),
    ...(wanted === undefined ? { isNew: true } : {}),
  };
  yield* reading(linked, asked, () => ask(linked, { operation: 'get', request: { id: alias as string as Task['id'] }, ctx }));
}

async function* subscribe(linked: MqttLinkContext, request: Requests['subscribe'], ctx: CallContext): AsyncGenerator<readonly Logged[]> {
  const params = SPOKEN.encode('subscribe.request', request);
  const asked: MqttExchange = { method: SPOKEN.methods.subscribe ?? '', params, ctx, task: request.id };
  yield* reading(linked, asked, () => ask(linked, { operation: 'get', request: { id: request.id }, ctx }));
}

interface Asking<Op extends UnaryOperation> {
  readonly operation: Op;
  readonly request: Requests[Op];
  readonly ctx: CallContext;
}

/** One question, one answer. */
async function ask<Op extends UnaryOperation>(linked: MqttLinkContext, { operation, request, ctx }: Asking<Op>): Promise<Results[Op]> {
  const asked: MqttExchange = {
    method: methodOf(operation),
    params: SPOKEN.encode(`${operation}.request` as Shape, request as Shapes[Shape]) as Json,
    ctx,
    ...taskIn(request),
  };
  for await (const word of exchange(linked, asked)) {
    if (word?.error !== undefined) throw word.error;
    if (word === undefined || word.chunk !== undefined) continue;
    const decoded = SPOKEN.decode(`${operation}.result` as Shape, word.result, ENV) as Decoded<Results[Op]>;
    if (decoded.ok) return decoded.value;
    throw new A2AError('INVALID_AGENT_RESPONSE', `the answer of ${linked.options.agent} can't be read`);
  }
  throw new A2AError('UNAVAILABLE', `${linked.options.agent} has not answered`);
}

function methodOf(operation: Operation): string {
  const method = SPOKEN.methods[operation];
  if (method === undefined) throw new A2AError('UNSUPPORTED_OPERATION', `${SPOKEN.title} has no ${operation}`);
  return method;
}

function taskIn(request: object): { readonly task?: string } {
  const id: unknown = 'taskId' in request ? request.taskId : 'id' in request ? request.id : undefined;
  return typeof id === 'string' ? { task: id } : {};
}
