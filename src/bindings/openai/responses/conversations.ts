import type { JsonObject, Message, Task } from '#protocol';
import { A2AError, contextId } from '#protocol';
import { DEFAULT_BODY_LIMITS } from '../../body.ts';
import type { HttpRequest, HttpResponse } from '../../http.ts';
import { requestBytes, requestJson } from '../../request-body.ts';
import { toCallerError } from '../../responses.ts';
import { notSupported, objectAt } from '../fields.ts';
import type { ChatAgent } from '../serve.ts';
import { json, refuse } from '../serve.ts';
import type { ResponsesOptions } from './call.ts';
import { callFor } from './call.ts';
import { conversationId, createdOf } from './ids.ts';
import { readMetadata } from './read.ts';
import { inputItems, listPage, outputItem } from './stored.ts';

/**
 * `/v1/conversations` and what is below it. A conversation is a context: it exists as soon as somebody
 * uses its id. Never throws.
 */
export async function answerConversations(
  httpRequest: HttpRequest,
  path: readonly string[],
  options: ResponsesOptions,
): Promise<HttpResponse> {
  try {
    const [id, action, item] = path;
    const { method } = httpRequest;
    if (id === undefined && method === 'POST') return await create(httpRequest, options);
    if (id === undefined || (action !== undefined && action !== 'items')) throw unknownPath();
    if (action === undefined) return await one(httpRequest, id, options);
    if (method === 'POST' || method === 'DELETE') throw notSupported('items', 'the agent and its callers say what is in a conversation');
    const all = await itemsOf(httpRequest, id, options);
    if (item === undefined) return json(listPage(all, httpRequest.query));
    const found = all.find((each) => each['id'] === item);
    if (found === undefined) throw missing(id, `has no item ${item.slice(0, 200)}`);
    return json(found);
  } catch (thrown) {
    return refuse(toCallerError(thrown, options));
  }
}

function unknownPath(): A2AError {
  return new A2AError('METHOD_NOT_FOUND', 'there is no such endpoint below /v1/conversations', { info: { openai: 'unknown_url' } });
}

function missing(id: string, problem: string): A2AError {
  return new A2AError('TASK_NOT_FOUND', `Conversation with id '${id.slice(0, 200)}' ${problem}.`, {
    info: { openai: 'conversation_not_found' },
  });
}

async function create(httpRequest: HttpRequest, options: ResponsesOptions): Promise<HttpResponse> {
  const bytes = await requestBytes(httpRequest, options.bodyBytesMax ?? DEFAULT_BODY_LIMITS.bodyBytesMax);
  const body = bytes.length === 0 ? {} : objectAt(requestJson(bytes, options), 'the body');
  if (Array.isArray(body['items']) && body['items'].length > 0)
    throw notSupported('items', 'a conversation starts with its first response');
  checkMetadata(body['metadata']);
  const created = Math.floor(Date.now() / 1000);
  return json(conversation(conversationId(created, crypto.randomUUID().replaceAll('-', ''))));
}

/** Contexts have no metadata of their own. */
function checkMetadata(value: unknown): void {
  if (Object.keys(readMetadata(value)).length > 0) throw notSupported('metadata', 'give it to a response');
}

function conversation(id: string): JsonObject {
  return { id, object: 'conversation', created_at: createdOf(id), metadata: {} };
}

async function one(httpRequest: HttpRequest, id: string, options: ResponsesOptions): Promise<HttpResponse> {
  if (httpRequest.method === 'DELETE') return await remove(httpRequest, id, options);
  if (httpRequest.method === 'POST') {
    const bytes = await requestBytes(httpRequest, options.bodyBytesMax ?? DEFAULT_BODY_LIMITS.bodyBytesMax);
    checkMetadata(objectAt(requestJson(bytes, options), 'the body')['metadata']);
  }
  if (createdOf(id) === 0 && (await itemsOf(httpRequest, id, options)).length === 0) throw missing(id, 'not found');
  return json(conversation(id));
}

/** Deletes every task of the context, with all agents. */
async function remove(httpRequest: HttpRequest, id: string, options: ResponsesOptions): Promise<HttpResponse> {
  for (const agent of options.agents) {
    const call = await callFor(httpRequest, options, agent);
    call.disconnect.release();
    for (;;) {
      const { tasks } = await agent.service.list({ contextId: contextId(id), pageSize: 100, historyLength: 0 }, call.ctx);
      if (tasks.length === 0) break;
      await forgetAll(agent, tasks, call.ctx);
    }
  }
  return json({ id, object: 'conversation.deleted', deleted: true });
}

async function forgetAll({ service }: ChatAgent, tasks: readonly Task[], ctx: Parameters<ChatAgent['service']['get']>[1]): Promise<void> {
  if (service.forget === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this agent keeps its tasks elsewhere, so they stay');
  for (const { id } of tasks) await service.forget({ id }, ctx);
}

/** The messages of the context with every agent that it was used with. */
async function itemsOf(httpRequest: HttpRequest, id: string, options: ResponsesOptions): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  for (const agent of options.agents) {
    const call = await callFor(httpRequest, options, agent);
    call.disconnect.release();
    const page = await agent.service.conversation?.({ contextId: contextId(id), messagesMax: 1000, bytesMax: 16_777_216 }, call.ctx);
    all.push(...(page?.messages ?? []).flatMap(itemsIn));
  }
  return all;
}

function itemsIn(message: Message): readonly JsonObject[] {
  return message.role === 'ROLE_USER' ? inputItems(message, message.taskId) : [outputItem(message)];
}
