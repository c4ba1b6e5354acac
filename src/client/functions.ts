import type { AgentCard, ListRequest, SendRequest, SendResult, Task, TaskPage, TaskState } from '#protocol';
import { getTextFromMessage, isTextPart } from '#protocol';
import type { CallOptions } from './calls/request.ts';
import type { SendOptions } from './calls/send-options.ts';
import { A2AClient } from './client.ts';
import { findAgentCard } from './connection/connect.ts';
import type { ClientOptions } from './options.ts';

/**
 * Options of the single functions, which have the names and the argument order of CortexPrism's documentation. Each function connects
 * again; for several calls, keep an `A2AClient`.
 */
export type FunctionOptions = ClientOptions & CallOptions;

/**
 * Gets the card of an agent of any dialect.
 *
 * ```ts
 * const card = await fetchAgentCard('https://agent.example');
 * ```
 */
export async function fetchAgentCard(endpoint: string, options: FunctionOptions = {}): Promise<AgentCard> {
  return (await findAgentCard(endpoint, options)).card;
}

/**
 * Sends a message and waits for the result.
 *
 * ```ts
 * const { task, message } = await sendMessage('https://agent.example', { message: createUserMessage('hello') });
 * ```
 */
export async function sendMessage(card: AgentCard | string, request: SendRequest, options: FunctionOptions = {}): Promise<SendResult> {
  const client = await A2AClient.connect(card, options);
  return await client.send(request.message, { ...callOptions(options), ...sendOptionsOf(request) }).result();
}

/** Gets each piece of text as it arrives. */
export type OnChunk = (text: string) => void;
/** Gets each state of the task, with the text of its status message. */
export type OnStatus = (state: TaskState, text: string | undefined) => void;

/**
 * Sends a message and reads the stream. `onChunk` gets the text of artifacts, `onStatus` each state
 * and its text, in order.
 *
 * ```ts
 * const request = { message: createUserMessage('Tell me a story') };
 * const result = await sendStreamingMessage('https://agent.example', request, (text) => process.stdout.write(text));
 * ```
 */
export async function sendStreamingMessage(
  card: AgentCard | string,
  request: SendRequest,
  ...[onChunk, onStatus, options = {}]: readonly [onChunk?: OnChunk | undefined, onStatus?: OnStatus | undefined, options?: FunctionOptions]
): Promise<SendResult> {
  const client = await A2AClient.connect(card, options);
  const handle = client.stream(request.message, { ...callOptions(options), ...sendOptionsOf(request) });
  for await (const { artifactUpdate, statusUpdate, task, message } of handle) {
    const said = artifactUpdate?.artifact ?? message;
    const chunk = (said?.parts ?? []).filter(isTextPart).map(({ text }) => text);
    if (chunk.length > 0) onChunk?.(chunk.join(''));
    const status = statusUpdate?.status ?? task?.status;
    if (status !== undefined) onStatus?.(status.state, status.message === undefined ? undefined : getTextFromMessage(status.message));
  }
  const result = await handle.result();
  await handle.close(); // nobody can answer a question on this stream
  return result;
}

/**
 * Gets a task.
 *
 * ```ts
 * const task = await getTask('https://agent.example', '5f0c1e…', { auth: { bearer: token } });
 * ```
 */
export async function getTask(card: AgentCard | string, taskId: string, options: FunctionOptions = {}): Promise<Task> {
  return await (await A2AClient.connect(card, options)).get(taskId, callOptions(options));
}

/**
 * Gets one page of tasks. Pass its `nextPageToken` for the next page.
 *
 * ```ts
 * const { tasks, nextPageToken } = await listTasks('https://agent.example', { status: 'TASK_STATE_WORKING' });
 * ```
 */
export async function listTasks(card: AgentCard | string, request: ListRequest = {}, options: FunctionOptions = {}): Promise<TaskPage> {
  const { pageToken, tenant: _, ...rest } = request;
  return await (await A2AClient.connect(card, options)).list({ ...rest, ...callOptions(options) }).page(pageToken);
}

/**
 * Cancels a task and returns it.
 *
 * ```ts
 * const { status } = await cancelTask('https://agent.example', '5f0c1e…');
 * ```
 */
export async function cancelTask(card: AgentCard | string, taskId: string, options: FunctionOptions = {}): Promise<Task> {
  return await (await A2AClient.connect(card, options)).cancel(taskId, callOptions(options));
}

function sendOptionsOf({ configuration, metadata }: SendRequest): SendOptions {
  const { taskPushNotificationConfig: push, returnImmediately, acceptedOutputModes, historyLength } = configuration ?? {};
  return {
    ...(metadata === undefined ? {} : { metadata }),
    ...(push === undefined ? {} : { push }),
    ...(returnImmediately === undefined ? {} : { returnImmediately }),
    ...(acceptedOutputModes === undefined ? {} : { acceptedOutputModes }),
    ...(historyLength === undefined ? {} : { historyLength }),
  };
}

function callOptions({ signal, totalMs, extensions, trace }: FunctionOptions): CallOptions {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(totalMs === undefined ? {} : { totalMs }),
    ...(extensions === undefined ? {} : { extensions }),
    ...(trace === undefined ? {} : { trace }),
  };
}
