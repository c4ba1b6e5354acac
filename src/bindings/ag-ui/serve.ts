import type { A2AError, A2AService, CallContext, Json, Logged, SendRequest, TaskId } from '#protocol';
import { a2uiUri, answeringDialect, ERRORS, isInterrupted, isTerminal, messageId, A2AError as ServiceError } from '#protocol';
import { contextOf } from '../call-context.ts';
import { disconnectSignal } from '../disconnect.ts';
import { jsonBody } from '../document-stream.ts';
import { eventAnswer } from '../event-stream.ts';
import type { EventWire } from '../event-wire.ts';
import type { HttpRequest, HttpResponse } from '../http.ts';
import { isMediaType, JSON_TYPE } from '../media.ts';
import type { OpenStream } from '../open-stream.ts';
import { cancelQuietly, openSend, openSendUnread, openStream, streamOfBatch } from '../open-stream.ts';
import type { BindingServeOptions } from '../options.ts';
import { callerOf, DEFAULT_ENV, DEFAULT_KEEP_ALIVE_MS, registryOf } from '../options.ts';
import { requestBytes, requestJson } from '../request-body.ts';
import { errorHeaders, toCallerError } from '../responses.ts';
import { agUiFrame } from './event.ts';
import type { RunPlan } from './plan.ts';
import { isReusedId, planRun } from './plan.ts';
import type { RunInput } from './read.ts';
import { readRunInput } from './read.ts';
import type { RunBeginning } from './run-writer.ts';
import { errorEvent, RunWriter } from './run-writer.ts';

/** What happens to a task when its reader closes the connection. */
export type OnHangUp = 'continue' | 'cancel';

/** Options of the AG-UI endpoint. */
export interface AgUiOptions extends BindingServeOptions {
  /** Default `continue`: the task continues, and a later run of the thread shows its answer. */
  readonly onHangUp?: OnHangUp;
}

/** Each request repeats the whole thread, so bodies are larger than elsewhere. */
export const AG_UI_BODY_BYTES_MAX = 10_485_760;

/**
 * `POST /ag-ui`: one run of an AG-UI front end, which is one message to the agent and the stream of what
 * follows. Never throws: failures before the stream become error responses, later ones `RUN_ERROR`.
 */
export async function answerAgUi(httpRequest: HttpRequest, service: A2AService, options: AgUiOptions): Promise<HttpResponse> {
  try {
    if (!isMediaType(httpRequest.header('content-type'), [JSON_TYPE])) {
      throw new ServiceError('CONTENT_TYPE_NOT_SUPPORTED', `Content-Type must be ${JSON_TYPE}`);
    }
    const bytes = await requestBytes(httpRequest, options.bodyBytesMax ?? AG_UI_BODY_BYTES_MAX, 'agUiBodyBytesMax');
    const raw = requestJson(bytes, options);
    const input = readRunInput(raw, (options.env ?? DEFAULT_ENV).limits.idCharsMax);
    return await run({ httpRequest, service, options, input });
  } catch (thrown) {
    return refusalOf(toCallerError(thrown, options));
  }
}

interface RunExchange {
  readonly httpRequest: HttpRequest;
  readonly service: A2AService;
  readonly options: AgUiOptions;
  readonly input: RunInput;
}

async function run({ httpRequest, service, options, input }: RunExchange): Promise<HttpResponse> {
  const caller = await callerOf(httpRequest, options);
  const disconnect = disconnectSignal(httpRequest);
  const ctx = contextOf(httpRequest, { dialect: answeringDialect(registryOf(options), {}), caller }, disconnect.signal);
  const nextId = (): string => `agui-${(options.env ?? DEFAULT_ENV).ids.next()}`;
  try {
    const hasSurfaces = options.extensions?.includes(a2uiUri('v0.9')) === true;
    const plan = await planRun({ service, ctx, nextId, hasSurfaces }, input);
    const onHangUp = input.preferences.onHangUp ?? options.onHangUp ?? 'continue';
    const followed = followOf(await begin(plan, { service, ctx, nextId, onHangUp }));
    const writer = new RunWriter(beginningOf(plan, input));
    const wire: EventWire = {
      writer: {
        frames: (batch) => [...writer.begin(), ...batch.flatMap(({ event }) => writer.add(event))].map(agUiFrame),
        end: () => writer.end().map(agUiFrame),
      },
      keepAliveMs: options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS,
      retryMs: undefined,
      isReset: false,
      errorFrame: (thrown) => agUiFrame(errorEvent(toCallerError(thrown, options))),
      lastFrames: () => writer.fail({ message: 'the server ended the stream; run the thread again', code: 'server_closed' }).map(agUiFrame),
      taskAtEnd: async () => undefined,
      left: () => {
        disconnect.abort();
        const id = followed.taskId();
        if (onHangUp === 'cancel' && httpRequest.signal.aborted && id !== undefined) void cancelQuietly(service, id, ctx);
      },
      ended: () => disconnect.release(),
    };
    return eventAnswer(followed.events, wire, {});
  } catch (thrown) {
    disconnect.release();
    throw thrown;
  }
}

interface Beginning {
  readonly service: A2AService;
  readonly ctx: CallContext;
  readonly nextId: () => string;
  readonly onHangUp: OnHangUp;
}

/** Starts what the run does, and opens its stream of events. */
async function begin(plan: RunPlan, { service, ctx, nextId, onHangUp }: Beginning): Promise<OpenStream> {
  if (plan.kind === 'cancel') return streamOfBatch([{ event: { task: await service.cancel({ id: plan.task.id }, ctx) } }]);
  if (plan.kind === 'open') {
    const { current } = plan;
    if (current === undefined) return streamOfBatch([]);
    const { state } = current.status;
    if (!isTerminal(state) && !isInterrupted(state)) return await openStream(service.subscribe({ id: current.id }, ctx));
    return streamOfBatch([{ event: { task: current } }]);
  }
  const open = (request: SendRequest): Promise<OpenStream> =>
    onHangUp === 'cancel'
      ? openSendUnread({ service, request, ctx }, (task) => void cancelQuietly(service, task, ctx))
      : openSend(service, request, ctx);
  try {
    return await open(plan.request);
  } catch (thrown) {
    // A front end that repeats a message with another state sends other content under the same id.
    if (!isReusedId(thrown)) throw thrown;
    const { message } = plan.request;
    return await open({ ...plan.request, message: { ...message, messageId: messageId(nextId()) } });
  }
}

function beginningOf(plan: RunPlan, input: RunInput): RunBeginning {
  if (plan.kind === 'send') return plan.known === undefined ? { input } : { input, known: plan.known, isAnswer: true };
  if (plan.kind === 'cancel') return { input, known: plan.task };
  const { messages, current } = plan;
  if (current === undefined) return { input, messages };
  return { input, messages, known: current, isReview: isTerminal(current.status.state) };
}

interface Followed {
  readonly events: OpenStream;
  readonly taskId: () => TaskId | undefined;
}

/**
 * Ends the stream at a question, also where the task's own stream continues: a run with an interrupt is
 * over for its client.
 */
function followOf({ first, rest }: OpenStream): Followed {
  let task: TaskId | undefined;
  let isCut = false;
  const look = (batch: readonly Logged[]): void => {
    for (const { event } of batch) {
      task = event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId ?? task;
      const state = (event.task ?? event.statusUpdate)?.status.state;
      if (state !== undefined) isCut = isInterrupted(state);
    }
  };
  if (first.done !== true) look(first.value);
  const next = async (): Promise<IteratorResult<readonly Logged[], unknown>> => {
    if (isCut) {
      await rest.return?.();
      return { done: true, value: undefined };
    }
    const step = await rest.next();
    if (step.done !== true) look(step.value);
    return step;
  };
  const close = async (): Promise<IteratorResult<readonly Logged[], unknown>> => {
    await rest.return?.();
    return { done: true, value: undefined };
  };
  return { events: { first, rest: { next, return: close } }, taskId: () => task };
}

function refusalOf(error: A2AError): HttpResponse {
  const { field } = error.details;
  const body: Json = { error: { code: error.kind.toLowerCase(), message: error.message, ...(field === undefined ? {} : { field }) } };
  return { status: ERRORS[error.kind].http, headers: { ...errorHeaders(error), 'Content-Type': JSON_TYPE }, body: jsonBody(body) };
}
