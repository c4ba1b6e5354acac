import type { Frame, JsonObject, Logged, Message, Task, TaskEvent, TaskId, TaskTurn } from '#protocol';
import { A2AError, isA2AError, isInterrupted, isTerminal, jsonText, seq, taskId, turnsOf } from '#protocol';
import { DEFAULT_BODY_LIMITS } from '../../body.ts';
import { eventAnswer } from '../../event-stream.ts';
import type { HttpRequest, HttpResponse } from '../../http.ts';
import { isMediaType, JSON_TYPE } from '../../media.ts';
import type { OpenStream } from '../../open-stream.ts';
import { afterAnswer, cancelQuietly, openSend, openSendUnread, openStream, streamOfBatch } from '../../open-stream.ts';
import { DEFAULT_KEEP_ALIVE_MS } from '../../options.ts';
import { requestBytes, requestJson } from '../../request-body.ts';
import { toCallerError } from '../../responses.ts';
import { wrongField } from '../fields.ts';
import { agentFor, json, refuse, stop } from '../serve.ts';
import type { ResponseEvent, ResponseFacts } from './builder.ts';
import { ResponseBuilder } from './builder.ts';
import type { ResponseCall, ResponsesOptions } from './call.ts';
import { callFor } from './call.ts';
import type { ResponseRef } from './ids.ts';
import type { CreateRequest } from './read.ts';
import { readCreate } from './read.ts';
import { echoOf, inputItems, listPage, storedResponse, turnFor } from './stored.ts';
import { agentOfResponse, noResponse, planSend } from './thread.ts';

/**
 * `/v1/responses` and what is below it. `path`: the segments after `responses`. Never throws: failures
 * become error responses in OpenAI's form.
 */
export async function answerResponses(httpRequest: HttpRequest, path: readonly string[], options: ResponsesOptions): Promise<HttpResponse> {
  try {
    const [id, action, ...more] = path;
    const { method } = httpRequest;
    if (id === undefined && method === 'POST') return await create(httpRequest, options);
    if (id === undefined || more.length > 0) throw unknownPath();
    if (action === 'cancel' && method === 'POST') return await cancel(httpRequest, id, options);
    if (action === 'input_items' && method !== 'POST') return await items(httpRequest, id, options);
    if (action !== undefined) throw unknownPath();
    if (method === 'DELETE') return await remove(httpRequest, id, options);
    if (method === 'POST') throw unknownPath();
    return await read(httpRequest, id, options);
  } catch (thrown) {
    return refuse(toCallerError(thrown, options));
  }
}

function unknownPath(): A2AError {
  return new A2AError('METHOD_NOT_FOUND', 'there is no such endpoint below /v1/responses', { info: { openai: 'unknown_url' } });
}

async function create(httpRequest: HttpRequest, options: ResponsesOptions): Promise<HttpResponse> {
  if (!isMediaType(httpRequest.header('content-type'), [JSON_TYPE])) {
    throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `Content-Type must be ${JSON_TYPE}`);
  }
  const raw = requestJson(await requestBytes(httpRequest, options.bodyBytesMax ?? DEFAULT_BODY_LIMITS.bodyBytesMax), options);
  const request = readCreate(raw);
  const agent = agentFor(request, options);
  if (!request.store && agent.service.forget === undefined) throw wrongField('store', 'must be true: this agent stores every answer');
  const call = await callFor(httpRequest, options, agent);
  const id = `msg_${crypto.randomUUID()}`;
  const facts: ResponseFacts = {
    ...{ model: agent.name, message: id, echo: request.echo, tools: request.tools },
    created: Math.floor(Date.now() / 1000),
  };
  try {
    const planned = await planSend(call, request, id);
    if (request.background && !request.stream) {
      const event = await agent.service.send(planned.request, call.ctx);
      call.disconnect.release();
      const builder = new ResponseBuilder(facts);
      builder.add(withoutKnown(event, planned.known));
      return json(builder.response());
    }
    const sending = { service: agent.service, request: planned.request, ctx: call.ctx };
    const events = request.background
      ? await openSend(agent.service, planned.request, call.ctx)
      : await openSendUnread(sending, (task) => void stopBeforeFirst({ request, call }, task));
    const exchange: Exchange = { httpRequest, options, request, call, builder: new ResponseBuilder(facts), known: planned.known };
    return request.stream ? streamed(exchange, events) : await whole(exchange, events);
  } catch (thrown) {
    call.disconnect.release();
    throw thrown;
  }
}

interface Exchange {
  readonly httpRequest: HttpRequest;
  readonly options: ResponsesOptions;
  readonly request: Pick<CreateRequest, 'background' | 'store'>;
  readonly call: ResponseCall;
  readonly builder: ResponseBuilder;
  readonly known: Task | undefined;
  /** Events up to this sequence number are left out. */
  readonly after?: number;
}

/** As at OpenAI, only a background response outlives its caller. */
function hangUp(exchange: Exchange): () => void {
  const { httpRequest, request, call } = exchange;
  return () => {
    call.disconnect.abort();
    if (!request.background && httpRequest.signal.aborted) void stopUnread(exchange);
  };
}

async function stopBeforeFirst({ request, call }: Pick<Exchange, 'request' | 'call'>, task: TaskId): Promise<void> {
  await cancelQuietly(call.agent.service, task, call.ctx);
  if (!request.store) await forget(call, task);
}

async function stopUnread({ request, call, builder }: Exchange): Promise<void> {
  await stop(call.agent.service, builder.reply, call.ctx);
  if (!request.store) await forget(call, builder.reply.taskId);
}

function streamed(exchange: Exchange, events: OpenStream): HttpResponse {
  const { options, call, builder, known, after = -1 } = exchange;
  const frames = (made: readonly ResponseEvent[]): readonly Frame[] =>
    made.filter((event) => Number(event['sequence_number']) > after).map((event) => ({ event: event.type, data: jsonText(event) }));
  return eventAnswer(
    events,
    {
      writer: {
        frames: (batch) => frames(batch.flatMap(({ event }) => builder.add(withoutKnown(event, known)))),
        end: () => {
          void forgetUnstored(exchange);
          return frames(builder.end());
        },
      },
      keepAliveMs: options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS,
      retryMs: undefined,
      isReset: false,
      errorFrame: (thrown) => errorFrame(toCallerError(thrown, options)),
      lastFrames: () => [errorFrame(new A2AError('UNAVAILABLE', 'the server is shutting down'))],
      taskAtEnd: async () => undefined,
      left: hangUp(exchange),
      ended: () => call.disconnect.release(),
    },
    {},
  );
}

function errorFrame(error: A2AError): Frame {
  const event: JsonObject = { type: 'error', code: error.kind.toLowerCase(), message: error.message, param: null, sequence_number: 0 };
  return { event: 'error', data: jsonText(event) };
}

async function whole(exchange: Exchange, events: OpenStream): Promise<HttpResponse> {
  const { httpRequest, call, builder, known } = exchange;
  const left = hangUp(exchange);
  httpRequest.signal.addEventListener('abort', left, { once: true });
  try {
    for (let step = events.first; step.done !== true; step = await events.rest.next()) {
      for (const { event } of step.value) builder.add(withoutKnown(event, known));
    }
  } finally {
    httpRequest.signal.removeEventListener('abort', left);
    call.disconnect.release();
  }
  builder.end();
  await forgetUnstored(exchange);
  return json(builder.response());
}

/** `store: false`: nothing is kept of a finished answer. A task that waits for its caller has to stay. */
async function forgetUnstored({ request, call, builder }: Exchange): Promise<void> {
  const { taskId: id, state } = builder.reply;
  if (!request.store && state !== undefined && isTerminal(state)) await forget(call, id);
}

/** Fails if the task is gone already. */
async function forget({ agent, ctx }: ResponseCall, id: TaskId | undefined): Promise<void> {
  if (id !== undefined) await agent.service.forget?.({ id }, afterAnswer(ctx)).catch(() => undefined);
}

/** The answer to a question continues a task: its earlier artifacts are not part of this response. */
function withoutKnown(event: TaskEvent, known: Task | undefined): TaskEvent {
  if (event.task === undefined || known === undefined) return event;
  const before = new Set((known.artifacts ?? []).map(({ artifactId }) => artifactId));
  const { status, artifacts = [] } = event.task;
  const isOld = status.message !== undefined && status.message.messageId === known.status.message?.messageId;
  return {
    task: {
      ...event.task,
      artifacts: artifacts.filter(({ artifactId }) => !before.has(artifactId)),
      status: isOld ? { state: 'TASK_STATE_WORKING' } : status,
    },
  };
}

interface Stored {
  readonly call: ResponseCall;
  readonly task: Task;
  readonly ref: ResponseRef;
  readonly message: Message;
  readonly turn: TaskTurn;
  readonly response: JsonObject;
}

async function stored(httpRequest: HttpRequest, id: string, options: ResponsesOptions): Promise<Stored> {
  const { agent, ref } = agentOfResponse(id, options.agents);
  const call = await callFor(httpRequest, options, agent);
  call.disconnect.release();
  try {
    const task = await agent.service.get({ id: taskId(ref.task) }, call.ctx);
    const turn = turnFor(task, ref, await conversationOf(call, task));
    if (turn?.message === undefined) throw noResponse(id);
    return { call, task, ref, message: turn.message, turn, response: storedResponse(task, ref, turn) };
  } catch (thrown) {
    throw isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND' ? noResponse(id) : thrown;
  }
}

/** Only a task with several turns needs it, to tell their answers apart. */
async function conversationOf({ agent, ctx }: ResponseCall, { id, contextId, history = [] }: Task): Promise<readonly Message[]> {
  if (contextId === undefined || history.filter(({ role }) => role === 'ROLE_USER').length < 2) return [];
  const page = await agent.service.conversation?.({ contextId, messagesMax: 1000, bytesMax: 16_777_216 }, ctx);
  return (page?.messages ?? []).filter((message) => message.taskId === id);
}

async function read(httpRequest: HttpRequest, id: string, options: ResponsesOptions): Promise<HttpResponse> {
  const { call, task, ref, message, turn, response } = await stored(httpRequest, id, options);
  const query = new URLSearchParams(httpRequest.query);
  if (query.get('stream') !== 'true') return json(response);
  const after = query.get('starting_after') ?? undefined;
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw wrongField('starting_after', 'must be a sequence number');
  const isOnly = (task.history ?? []).filter(({ role }) => role === 'ROLE_USER').length === 1;
  if (after !== undefined && !isOnly)
    throw wrongField('starting_after', "can't be used for a response that answers a question of the agent");
  const echo = echoOf(message);
  const facts: ResponseFacts = { model: ref.agent, created: ref.created, message: ref.message, task: task.id, echo, tools: new Set() };
  const request = { background: true, store: true };
  const builder = new ResponseBuilder(facts);
  const { state } = turn.status;
  const isSettled = isTerminal(state) || isInterrupted(state);
  const events =
    !isOnly && isSettled
      ? snapshotOf({ ...task, artifacts: turn.artifacts, status: turn.status })
      : await openStream(call.agent.service.subscribe({ id: task.id, ...(isOnly ? { after: seq(1) } : {}) }, call.ctx));
  const known = isOnly || isSettled ? undefined : beforeTurn(task);
  return streamed(
    { httpRequest, options, request, call, builder, known, ...(after === undefined ? {} : { after: Number(after) }) },
    events,
  );
}

/** The task as it was before its last turn. */
function beforeTurn(task: Task): Task {
  const artifacts = turnsOf(task)
    .slice(0, -1)
    .flatMap((turn) => turn.artifacts);
  return { ...task, artifacts, status: { state: 'TASK_STATE_INPUT_REQUIRED' } };
}

function snapshotOf(task: Task): OpenStream {
  const batch: readonly Logged[] = [{ event: { task } }];
  return streamOfBatch(batch);
}

async function items(httpRequest: HttpRequest, id: string, options: ResponsesOptions): Promise<HttpResponse> {
  const { message, task } = await stored(httpRequest, id, options);
  return json(listPage(inputItems(message, task.id), httpRequest.query));
}

async function cancel(httpRequest: HttpRequest, id: string, options: ResponsesOptions): Promise<HttpResponse> {
  const { call, task, response, message } = await stored(httpRequest, id, options);
  if (echoOf(message)['background'] !== true)
    throw wrongField('response_id', 'must be a response of background mode; others end with their connection');
  if (isTerminal(task.status.state)) return json(response);
  await call.agent.service.cancel({ id: task.id }, call.ctx);
  return json((await stored(httpRequest, id, options)).response);
}

async function remove(httpRequest: HttpRequest, id: string, options: ResponsesOptions): Promise<HttpResponse> {
  const { call, task } = await stored(httpRequest, id, options);
  const { forget } = call.agent.service;
  if (forget === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this agent keeps its tasks elsewhere, so its responses stay');
  await forget.call(call.agent.service, { id: task.id }, call.ctx);
  return json({ id, object: 'response', deleted: true });
}
