import { requestText, serviceOver, unsupported } from '#bindings';
import type {
  A2AService,
  CallContext,
  CancelRequest,
  ExternalId,
  GetRequest,
  Logged,
  SendRequest,
  Task,
  TaskEvent,
  TaskId,
} from '#protocol';
import { A2AError, contextId, createTaskStatus, externalId, taskId } from '#protocol';
import { isSettled, startWithTask } from '../shared/events.ts';
import { encode, fitsBroker, JSON_TYPE, tooLarge } from '../shared/messages.ts';
import { resultFrom } from '../shared/result.ts';
import { recognisesRepeats } from './cards.ts';
import { WIRE } from './dialects.ts';
import type { SamResponse } from './inbox.ts';
import type { SamLinkContext } from './link-context.ts';
import { propertiesFor } from './link-context.ts';
import { queryTask } from './query.ts';
import { readResponses } from './responses.ts';
import { getAgentRequestTopic } from './topics.ts';

/** Delay before a request without a response is published again. */
const RETRY_MS = 5000;
/** A request that no agent has accepted fails after this time. */
const ACCEPT_MS_MAX = 30_000;
/** SAM's `request_timeout_seconds` (docs/dialects/sam.md). */
const IDLE_MS_MAX = 600_000;

/**
 * An agent on the mesh as an `A2AService`. SAM has send and cancel. The state of a task is what its
 * responses said; Parley's agents can also be asked for it.
 */
export function samLink(link: SamLinkContext): A2AService {
  const refuse = (operation: Parameters<typeof unsupported>[0]): never => {
    throw unsupported(operation, WIRE);
  };
  return {
    ...serviceOver({ unary: async (operation) => refuse(operation), stream: refuse }),
    send: (request, ctx) => {
      const finalOnly = request.configuration?.returnImmediately !== true && link.peer.isParley;
      return resultFrom(stream(link, { given: request, finalOnly }, ctx), { request, agent: link.options.agent });
    },
    stream: (request, ctx) => stream(link, { given: request, finalOnly: false }, ctx),
    cancel: (request, ctx) => cancel(link, request, ctx),
    get: (request, ctx) => get(link, request, ctx),
    subscribe: ({ id }, ctx) => subscribe(link, id, ctx),
  };
}

interface Sending {
  readonly given: SendRequest;
  /** Ask for the final task, which is one message, and not for every event. */
  readonly finalOnly: boolean;
}

/**
 * Sends a message and yields the events until the task is settled. With `finalOnly`, the first attempt
 * asks for the final task only. The second attempt asks for all events, which shows whether the request
 * was lost or takes long. An agent that would run a repeated request twice never gets the first form.
 */
async function* stream(link: SamLinkContext, { given, finalOnly }: Sending, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
  const { mesh, inbox, options } = link;
  const { retryMs = RETRY_MS, acceptMsMax = ACCEPT_MS_MAX, idleMsMax = IDLE_MS_MAX } = options;
  const alias = given.alias ?? externalId(given.message.taskId ?? mesh.ids.next());
  const payload = payloadOf(given, alias);
  const repeats = options.retryMs !== undefined || recognisesRepeats(options.card);
  const forFinal = { ...propertiesFor(link, ctx), replyTo: inbox.responseTopic(alias) };
  const forAll = { ...forFinal, a2aStatusTopic: inbox.statusTopic(alias) };
  const shared = getAgentRequestTopic(mesh.namespace, options.agent);
  const isNewTask = given.message.taskId === undefined;
  let attempt = 0;
  // Each copy expires before the next one is published, so that no copy is delivered after another replica has accepted the request.
  const publishTo = async (topic: string): Promise<boolean> => {
    const properties = finalOnly && attempt === 1 ? forFinal : forAll;
    const message = { topic, payload, properties, contentType: JSON_TYPE, ...(repeats ? { expiryMs: retryMs } : {}) };
    if (!fitsBroker(message)) throw new A2AError('PAYLOAD_TOO_LARGE', tooLarge(message));
    return (await mesh.broker.publish(message)).hasSubscribers !== false;
  };
  const publish = (): Promise<boolean> => {
    attempt += 1;
    // A task that exists belongs to one replica. If that replica does not respond, any replica may take the message.
    return publishTo(isNewTask || attempt > 1 ? shared : (inbox.instanceOf(alias) ?? shared));
  };
  // The replica recognises the message by its id and publishes all events again. Another agent would run it again.
  const recover = async (): Promise<undefined> => {
    if (repeats) await publishTo(inbox.instanceOf(alias) ?? shared);
  };
  const responses = readResponses({
    inbox,
    task: alias,
    agent: options.agent,
    signal: ctx.signal,
    broker: mesh.broker,
    publish,
    recover,
    repeats,
    retryMs,
    acceptMsMax,
    idleMsMax,
  });
  for await (const batch of eventsIn(responses, alias)) {
    link.peer.isParley ||= inbox.instanceOf(alias) !== undefined;
    yield batch;
  }
}

function payloadOf(given: SendRequest, alias: ExternalId): Uint8Array {
  const { configuration, ...rest } = given;
  const { returnImmediately: _, taskPushNotificationConfig: __, ...wanted } = configuration ?? {};
  // SAM's agents fail without a session. A repeated request has the same one.
  const message = { ...rest.message, contextId: rest.message.contextId ?? contextId(`session-${alias}`) };
  const request: SendRequest = { ...rest, message, alias, ...(Object.keys(wanted).length === 0 ? {} : { configuration: wanted }) };
  return encode(requestText(alias, WIRE.methods.stream ?? '', WIRE.encode('stream.request', request)));
}

/** Yields the events of a task that was sent earlier. */
async function* subscribe(link: SamLinkContext, id: TaskId, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
  const { inbox, options, mesh } = link;
  const { idleMsMax = IDLE_MS_MAX } = options;
  const recover = async (): Promise<SamResponse | undefined> => {
    const task = await queryTask(link, { method: 'tasks/get', id, ctx });
    return task === undefined ? undefined : { event: { task: { ...task, id } }, isFinal: isSettled(task) };
  };
  const known = inbox.known(id);
  if (known !== undefined) yield [{ event: { task: known } }];
  if (known !== undefined && isSettled(known)) return;
  yield* eventsIn(
    readResponses({ inbox, task: id, agent: options.agent, signal: ctx.signal, idleMsMax, recover, broker: mesh.broker }),
    id,
  );
}

/**
 * The events of the responses, each once, although a repeated request is answered from the beginning.
 */
async function* eventsIn(responses: AsyncIterable<SamResponse>, id: string): AsyncGenerator<readonly Logged[]> {
  let lastSeq = 0;
  let task: Task | undefined;
  for await (const { event, error, isFinal, seq } of responses) {
    if (error !== undefined) throw error;
    if (event === undefined) continue;
    // A repeated request is answered from the beginning.
    if (seq !== undefined && seq <= lastSeq && !isFinal) continue;
    lastSeq = Math.max(lastSeq, seq ?? 0);
    const events = startWithTask(task, withTaskId(event, id));
    task ??= events[0]?.task;
    const isEnd = isFinal && (event.task === undefined || isSettled(event.task));
    yield events.map((each, at) => (isEnd && at === events.length - 1 ? { event: each, closes: true } : { event: each }));
    if (isEnd) return;
  }
}

/** SAM's own agents have been seen to use another task id than the topic. The topic decides. */
function withTaskId(event: TaskEvent, id: string): TaskEvent {
  return event.task === undefined || event.task.id === id ? event : { task: { ...event.task, id: taskId(id) } };
}

/** SAM publishes the canceled task where the response to the task itself goes. */
async function cancel(link: SamLinkContext, { id }: CancelRequest, ctx: CallContext): Promise<Task> {
  const task = await queryTask(link, { method: WIRE.methods.cancel ?? '', id, ctx, acceptsFinalTask: true });
  if (task === undefined) throw new A2AError('UNAVAILABLE', `${link.options.agent} did not confirm that ${id} is canceled`);
  return { ...task, id };
}

async function get(link: SamLinkContext, { id }: GetRequest, ctx: CallContext): Promise<Task> {
  const known = link.inbox.known(id);
  if (known !== undefined && isSettled(known)) return known;
  const task = await queryTask(link, { method: 'tasks/get', id, ctx });
  if (task !== undefined) return { ...task, id };
  // SAM's agents do not respond to tasks/get: the task counts as working until another response comes.
  return link.inbox.known(id) ?? { id, status: createTaskStatus('TASK_STATE_WORKING') };
}
