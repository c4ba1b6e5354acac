import { requestText, serviceOver, unsupported } from '#bindings';
import type {
  A2AService,
  CallContext,
  CancelRequest,
  ExternalId,
  GetRequest,
  Logged,
  Requests,
  Results,
  SendRequest,
  SendResult,
  Task,
  TaskEvent,
  TaskId,
  UnaryOperation,
} from '#protocol';
import { A2AError, createTaskStatus, externalId, isInterrupted, isTerminal, taskId } from '#protocol';
import { answerFrom } from '../shared/result.ts';
import { WIRE } from './dialects.ts';
import type { SamResponse } from './inbox.ts';
import { beginning } from './inbox.ts';
import type { SamLinkContext } from './link-context.ts';
import { propertiesFor } from './link-context.ts';
import { ask } from './query.ts';
import { listening } from './responses.ts';
import { getAgentRequestTopic } from './topics.ts';

const RETRY_MS = 5000;
const ACCEPT_MS_MAX = 30_000;
/** SAM's `request_timeout_seconds` (reference/dialects §4f). */
const IDLE_MS_MAX = 600_000;

/**
 * An agent on the mesh as an `A2AService`. SAM sends and cancels; a task that was sent is known by what was heard of it, and our own agents
 * can be asked for it.
 */
export function samLink(linked: SamLinkContext): A2AService {
  const unary: Readonly<Record<string, ((request: never, ctx: CallContext) => Promise<unknown>) | undefined>> = {
    send: (request: SendRequest, ctx) => send(linked, request, ctx),
    cancel: (request: CancelRequest, ctx) => cancel(linked, request, ctx),
    get: (request: GetRequest, ctx) => get(linked, request, ctx),
  };
  return serviceOver({
    unary: async <Op extends UnaryOperation>(operation: Op, request: Requests[Op], ctx: CallContext) => {
      const run = unary[operation] as ((request: Requests[Op], ctx: CallContext) => Promise<Results[Op]>) | undefined;
      if (run === undefined) throw unsupported(operation, WIRE);
      return run(request, ctx);
    },
    stream: (operation, request, ctx) =>
      operation === 'stream'
        ? stream(linked, { given: request as SendRequest, isQuiet: false }, ctx)
        : subscribe(linked, (request as Requests['subscribe']).id, ctx),
  });
}

async function send(linked: SamLinkContext, request: SendRequest, ctx: CallContext): Promise<SendResult> {
  const isQuiet = request.configuration?.returnImmediately !== true && linked.learned.isOurs;
  return await answerFrom(stream(linked, { given: request, isQuiet }, ctx), { request, agent: linked.options.agent });
}

interface Sending {
  readonly given: SendRequest;
  readonly isQuiet: boolean;
}

/**
 * A message, and what comes of it until it has been dealt with. Quiet: the answer alone, which is one message and not one for each event.
 * If it does not come at once the repeat asks for everything, which is how a request that was lost is told from one that takes long; an
 * agent that would do a repeat twice is never asked quietly.
 */
async function* stream(linked: SamLinkContext, { given, isQuiet }: Sending, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
  const { place, inbox, options } = linked;
  const { retryMs = RETRY_MS, acceptMsMax = ACCEPT_MS_MAX, idleMsMax = IDLE_MS_MAX } = options;
  const alias = given.alias ?? externalId(given.message.taskId ?? place.ids.next());
  const payload = payloadOf(given, alias);
  const answering = { ...propertiesFor(linked, ctx), replyTo: inbox.responseTopic(alias) };
  const telling = { ...answering, a2aStatusTopic: inbox.statusTopic(alias) };
  const shared = getAgentRequestTopic(place.namespace, options.agent);
  const isFirst = given.message.taskId === undefined;
  let attempt = 0;
  // A copy that waits at a broker for somebody who is gone must not come to life when another has the request long since.
  const publishTo = async (topic: string): Promise<void> => {
    const properties = isQuiet && attempt === 1 ? answering : telling;
    await place.broker.publish({ topic, payload, properties, contentType: 'application/json', expiryMs: retryMs });
  };
  const publish = (): Promise<void> => {
    attempt += 1;
    // A task that has begun is with one of the replicas; if that is no more, with whoever takes it.
    return publishTo(isFirst || attempt > 1 ? shared : (inbox.instanceOf(alias) ?? shared));
  };
  // Whoever has it knows the message by its id, and says everything once more.
  const again = async (): Promise<undefined> => void (await publishTo(inbox.instanceOf(alias) ?? shared));
  const patience = { retryMs, acceptMsMax, idleMsMax };
  const words = listening({
    inbox,
    task: alias,
    name: options.agent,
    signal: ctx.signal,
    publish,
    again,
    broker: place.broker,
    ...patience,
  });
  for await (const batch of events(words, alias)) {
    linked.learned.isOurs ||= inbox.instanceOf(alias) !== undefined;
    yield batch;
  }
}

function payloadOf(given: SendRequest, alias: ExternalId): Uint8Array {
  const { configuration, ...rest } = given;
  const { returnImmediately: _, taskPushNotificationConfig: __, ...wanted } = configuration ?? {};
  const request: SendRequest = { ...rest, alias, ...(Object.keys(wanted).length === 0 ? {} : { configuration: wanted }) };
  return new TextEncoder().encode(requestText(alias, WIRE.methods.stream ?? '', WIRE.encode('stream.request', request)));
}

/** What comes of a task that was sent before. */
async function* subscribe(linked: SamLinkContext, id: TaskId, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
  const { inbox, options, place } = linked;
  const { idleMsMax = IDLE_MS_MAX } = options;
  const again = async (): Promise<SamResponse | undefined> => {
    const task = await ask(linked, { method: 'tasks/get', id, ctx });
    return task === undefined ? undefined : { event: { task: { ...task, id } }, isAnswer: isSettled(task) };
  };
  const known = inbox.known(id);
  if (known !== undefined) yield [{ event: { task: known } }];
  if (known !== undefined && isSettled(known)) return;
  yield* events(listening({ inbox, task: id, name: options.agent, signal: ctx.signal, idleMsMax, again, broker: place.broker }), id);
}

async function* events(words: AsyncIterable<SamResponse>, id: string): AsyncGenerator<readonly Logged[]> {
  let seen = 0;
  let task: Task | undefined;
  for await (const { event, error, isAnswer, seq } of words) {
    if (error !== undefined) throw error;
    if (event === undefined) continue;
    // A request that was repeated is answered once more, from its beginning.
    if (seq !== undefined && seq <= seen && !isAnswer) continue;
    seen = Math.max(seen, seq ?? 0);
    const told = beginning(task, underName(event, id));
    task ??= told[0]?.task;
    yield told.map((each) => ({ event: each }));
    if (isAnswer && (event.task === undefined || isSettled(event.task))) return;
  }
}

/** SAM's own agents have been seen to name their answers otherwise than the topic; what is listened for goes by the topic. */
function underName(event: TaskEvent, id: string): TaskEvent {
  return event.task === undefined || event.task.id === id ? event : { task: { ...event.task, id: taskId(id) } };
}

function isSettled({ status }: Task): boolean {
  return isTerminal(status.state) || isInterrupted(status.state);
}

/** The answer to a cancel is the task as the agent then has it; SAM says it where the answer to the task goes. */
async function cancel(linked: SamLinkContext, { id }: CancelRequest, ctx: CallContext): Promise<Task> {
  const told = ask(linked, { method: WIRE.methods.cancel ?? '', id, ctx, alsoHears: true });
  const task = await told;
  if (task === undefined) throw new A2AError('UNAVAILABLE', `${linked.options.agent} did not say whether it has cancelled ${id}`);
  return { ...task, id };
}

async function get(linked: SamLinkContext, { id }: GetRequest, ctx: CallContext): Promise<Task> {
  const known = linked.inbox.known(id);
  if (known !== undefined && isSettled(known)) return known;
  const task = await ask(linked, { method: 'tasks/get', id, ctx });
  if (task !== undefined) return { ...task, id };
  // SAM's agents can't be asked: it is at work until something else is heard.
  return linked.inbox.known(id) ?? { id, status: createTaskStatus('TASK_STATE_WORKING') };
}
