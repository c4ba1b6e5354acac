import type { A2AService, AgentCard, CallContext, Json, Message, Part, SendRequest } from '#protocol';
import { A2AError, answeringDialect, contextId, isInterrupted, messageId, taskId } from '#protocol';
import { DEFAULT_BODY_LIMITS } from '../body.ts';
import { contextOf } from '../call-context.ts';
import { disconnectSignal } from '../disconnect.ts';
import { jsonBody } from '../document-stream.ts';
import { eventAnswer } from '../event-stream.ts';
import type { EventWire } from '../event-wire.ts';
import type { HttpRequest, HttpResponse } from '../http.ts';
import { isMediaType, JSON_TYPE } from '../media.ts';
import type { OpenStream } from '../open-stream.ts';
import { cancelQuietly, openSendUnread } from '../open-stream.ts';
import type { BindingServeOptions, Caller } from '../options.ts';
import { callerOf, DEFAULT_ENV, DEFAULT_KEEP_ALIVE_MS, registryOf } from '../options.ts';
import { requestBytes, requestJson } from '../request-body.ts';
import { errorHeaders, toCallerError } from '../responses.ts';
import type { ChatIdentity, ChatMemory, Thread } from './memory.ts';
import { preface } from './preface.ts';
import type { ChatMessage, ChatRequest } from './read.ts';
import { readChat } from './read.ts';
import type { ChatReply } from './reply.ts';
import { startReply } from './reply.ts';
import type { Heading } from './write.ts';
import { chunkWriter, completion, errorBody, errorFrame, errorStatus } from './write.ts';

/** An agent that chat clients see as a model. */
export interface ChatAgent {
  /** Name of the model. */
  readonly name: string;
  readonly card: AgentCard;
  readonly service: A2AService;
}

/** Options of the chat endpoint. */
export interface ChatOptions extends BindingServeOptions {
  /** Agents that a request can choose by `model`. */
  readonly agents: readonly ChatAgent[];
  /** The agent to use whatever `model` says, because clients have their own model names. */
  readonly only?: ChatAgent;
  /** Finds the context of a repeated conversation. */
  readonly memory: ChatMemory;
}

/**
 * `POST /v1/chat/completions`: lets any OpenAI client talk to an agent. Never throws: failures become
 * error responses.
 */
export async function answerChat(httpRequest: HttpRequest, options: ChatOptions): Promise<HttpResponse> {
  try {
    if (!isMediaType(httpRequest.header('content-type'), [JSON_TYPE])) {
      throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `Content-Type must be ${JSON_TYPE}`);
    }
    const raw = requestJson(await requestBytes(httpRequest, options.bodyBytesMax ?? DEFAULT_BODY_LIMITS.bodyBytesMax), options);
    const request = readChat(raw);
    const caller = await callerOf(httpRequest, options);
    return await answer({ httpRequest, options, request, caller, agent: agentFor(request, options) });
  } catch (thrown) {
    return refuse(toCallerError(thrown, options));
  }
}

/** `GET /v1/models` lists the agents; `GET /v1/models/{name}` returns one. */
export function answerModels(name: string | undefined, { agents }: Pick<ChatOptions, 'agents'>, since: Date): HttpResponse {
  const all = agents.map((agent): Json => {
    const { description, provider } = agent.card;
    const created = Math.floor(since.getTime() / 1000);
    return { id: agent.name, object: 'model', created, owned_by: provider?.organization ?? 'parley', description };
  });
  if (name === undefined) return json({ object: 'list', data: all });
  const at = agents.findIndex((agent) => agent.name === name);
  return at === -1 ? refuse(noModel(name, agents)) : json(all[at] ?? null);
}

/** The agent that a request names, or the only one below an agent's own path. */
export function agentFor({ model }: Pick<ChatRequest, 'model'>, { agents, only }: Pick<ChatOptions, 'agents' | 'only'>): ChatAgent {
  const found = only ?? agents.find(({ name }) => name === model);
  if (found === undefined) throw noModel(model, agents);
  return found;
}

function noModel(name: string, agents: readonly ChatAgent[]): A2AError {
  const known = agents.map((agent) => agent.name).join(', ');
  return new A2AError('METHOD_NOT_FOUND', `there is no agent ${name.slice(0, 100)}; known agents: ${known}`, { field: 'model' });
}

interface Exchange {
  readonly httpRequest: HttpRequest;
  readonly options: ChatOptions;
  readonly request: ChatRequest;
  readonly caller: Caller;
  readonly agent: ChatAgent;
}

async function answer(exchange: Exchange): Promise<HttpResponse> {
  const { httpRequest, options, request, caller, agent } = exchange;
  const disconnect = disconnectSignal(httpRequest);
  const dialect = answeringDialect(registryOf(options), {});
  const ctx = contextOf(httpRequest, { dialect, caller }, disconnect.signal);
  const reply = startReply();
  const heading: Heading = {
    id: `chatcmpl-${(options.env ?? DEFAULT_ENV).ids.next()}`,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
  // Cancels the task: disconnecting is the only way in which a chat client can stop an answer, and nobody could read the rest.
  const hungUp = (): void => {
    disconnect.abort();
    if (httpRequest.signal.aborted) void stop(agent.service, reply, ctx);
  };
  try {
    const sending = { service: agent.service, request: await sendRequest(exchange), ctx };
    const events = await openSendUnread(sending, (task) => void cancelQuietly(agent.service, task, ctx));
    if (!request.stream) return await whole(exchange, { events, reply, heading, hungUp, forget: () => disconnect.release() });
    const wire: EventWire = {
      writer: chunkWriter(heading, reply, { includeUsage: request.includeUsage, onEnd: () => void remember(exchange, reply) }),
      keepAliveMs: options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS,
      retryMs: undefined,
      isReset: false,
      errorFrame: (thrown) => errorFrame(toCallerError(thrown, options)),
      taskAtEnd: async () => undefined,
      left: hungUp,
      ended: () => disconnect.release(),
    };
    return eventAnswer(events, wire, {});
  } catch (thrown) {
    disconnect.release();
    throw thrown;
  }
}

interface Listening {
  readonly events: OpenStream;
  readonly reply: ChatReply;
  readonly heading: Heading;
  readonly hungUp: () => void;
  readonly forget: () => void;
}

async function whole(exchange: Exchange, { events, reply, heading, hungUp, forget }: Listening): Promise<HttpResponse> {
  const { httpRequest } = exchange;
  httpRequest.signal.addEventListener('abort', hungUp, { once: true });
  try {
    for (let step = events.first; step.done !== true; step = await events.rest.next()) for (const { event } of step.value) reply.add(event);
  } finally {
    httpRequest.signal.removeEventListener('abort', hungUp);
    forget();
  }
  if (reply.failure !== undefined) throw reply.failure;
  await remember(exchange, reply);
  return json(completion(heading, reply));
}

/** Cancels the task of an answer that nobody reads any more. */
export async function stop(service: A2AService, { taskId: id, state }: ChatReply, ctx: CallContext): Promise<void> {
  if (id !== undefined && state !== 'TASK_STATE_COMPLETED') await cancelQuietly(service, id, ctx);
}

/** New messages continue the known chat. For an unknown chat, the agent gets the whole conversation as one message. */
async function sendRequest({ options, request, caller, agent }: Exchange): Promise<SendRequest> {
  const { messages } = request;
  const fresh = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1).filter(({ role }) => role === 'user');
  if (fresh.length === 0) throw new A2AError('INVALID_PARAMS', 'messages must end with a message of the user', { field: 'messages' });
  const before = messages.slice(0, messages.length - fresh.length);
  const named = threadIn(request);
  const thread = named ?? (before.length === 0 ? undefined : await options.memory.recall({ caller, agent: agent.name, messages: before }));
  const told: readonly Part[] = thread === undefined ? preface(before) : [];
  const message: Message = {
    messageId: messageId((options.env ?? DEFAULT_ENV).ids.next()),
    role: 'ROLE_USER',
    parts: [...told, ...fresh.flatMap(({ parts }) => parts)],
    ...(thread?.contextId === undefined ? {} : { contextId: thread.contextId }),
    ...(thread?.taskId === undefined ? {} : { taskId: thread.taskId }),
  };
  return { message, configuration: { returnImmediately: false } };
}

function threadIn({ contextId: context, taskId: task }: ChatRequest): Partial<Thread> | undefined {
  if (context === undefined && task === undefined) return undefined;
  return {
    ...(context === undefined ? {} : { contextId: contextId(context) }),
    ...(task === undefined ? {} : { taskId: taskId(task) }),
  };
}

/** Stores the conversation with the new answer, which the next request will repeat. */
async function remember(
  { options, request, caller, agent }: Exchange,
  { text, contextId: context, taskId: task, state }: ChatReply,
): Promise<void> {
  if (context === undefined) return;
  const messages: readonly ChatMessage[] = [...request.messages, { role: 'assistant', parts: [{ text }] }];
  const isWaiting = state !== undefined && isInterrupted(state) && task !== undefined;
  const chat: ChatIdentity = { caller, agent: agent.name, messages };
  await options.memory.remember(chat, isWaiting ? { contextId: context, taskId: task } : { contextId: context });
}

/** An error response in OpenAI's form. */
export function refuse(error: A2AError): HttpResponse {
  return json(errorBody(error), errorStatus(error), errorHeaders(error));
}

export function json(value: Json, status = 200, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return { status, headers: { ...headers, 'Content-Type': JSON_TYPE }, body: jsonBody(value) };
}
