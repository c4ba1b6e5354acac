import type { JsonObject, Message, Part, Task, TaskId, TaskTurn } from '#protocol';
import { artifactId, contextId, isObject, messageId, turnsOf } from '#protocol';
import { ResponseBuilder } from './builder.ts';
import type { ResponseRef } from './ids.ts';
import { callId } from './ids.ts';

/** The metadata member of a message with what the response repeats of its request. */
export const OPENAI_METADATA = 'urn:parley:openai:v1';

/** Marks the part with the instructions, which are not part of the input. */
export const INSTRUCTIONS = 'instructions';

/**
 * The turn of a task that a response belongs to. Undefined: the task has no such message. `said`: the
 * messages of the task's conversation, which tell the answers of several turns apart.
 */
export function turnFor(task: Task, { message }: ResponseRef, said: readonly Message[]): TaskTurn | undefined {
  const turns = turnsOf(task);
  const turn = turns.find((each) => each.message?.messageId === message);
  const at = said.findIndex((each) => each.messageId === message);
  if (turn === undefined || turns.length === 1 || at === -1) return turn;
  const rest = said.slice(at + 1);
  const next = rest.findIndex(({ role }) => role === 'ROLE_USER');
  const answers = (next === -1 ? rest : rest.slice(0, next)).flatMap(({ parts }) => parts);
  const calls = answers.filter(({ metadata }) => metadata?.['tool_call_id'] !== undefined);
  const parts = answers.filter((part) => !calls.includes(part));
  const asked: Message | undefined = calls.length === 0 ? undefined : { messageId: messageId(''), role: 'ROLE_AGENT', parts: calls };
  return {
    message: turn.message,
    artifacts: parts.length === 0 ? [] : [{ artifactId: artifactId('answer'), parts }],
    status: { state: turn.status.state, ...(asked === undefined ? {} : { message: asked }) },
  };
}

/** The request's members that are stored with its message. */
export function echoOf(message: Message | undefined): JsonObject {
  const stored = message?.metadata?.[OPENAI_METADATA];
  return isObject(stored) ? stored : {};
}

/** A stored response, from the task that it belongs to. */
export function storedResponse(task: Task, ref: ResponseRef, { message, artifacts, status }: TaskTurn): JsonObject {
  const echo = echoOf(message);
  const { tools } = echo;
  const names = Array.isArray(tools)
    ? tools.flatMap((tool) => (isObject(tool) && typeof tool['name'] === 'string' ? [tool['name']] : []))
    : [];
  const facts = { model: ref.agent, created: ref.created, message: ref.message, task: task.id, echo, tools: new Set(names) };
  const builder = new ResponseBuilder(facts);
  const ids = { taskId: task.id, contextId: task.contextId ?? contextId('') };
  for (const artifact of artifacts) builder.add({ artifactUpdate: { ...ids, artifact } });
  builder.add({ statusUpdate: { ...ids, status } });
  builder.end();
  return builder.response();
}

/** The items of a message of the caller. */
export function inputItems({ messageId, parts }: Message, task: TaskId | undefined): readonly JsonObject[] {
  const results = parts.flatMap((part, at) => {
    const id = part.metadata?.['tool_call_id'];
    if (typeof id !== 'string' || part.metadata?.['tool_result'] === undefined) return [];
    const { tool_result: output } = part.metadata;
    const told = typeof output === 'string' ? output : JSON.stringify(output);
    return [
      { id: `fco_${messageId}_${at}`, type: 'function_call_output', call_id: callId(task ?? '', id), output: told, status: 'completed' },
    ];
  });
  const content = parts.filter(({ metadata }) => metadata?.['tool_call_id'] === undefined && metadata?.['openai'] !== INSTRUCTIONS);
  const said = content.length === 0 ? [] : [messageItem(messageId, 'user', content.map(inputPart))];
  return [...results, ...said];
}

/** A message of the agent as an item of a conversation. */
export function outputItem({ messageId, parts }: Message): JsonObject {
  const text = parts.map((part) => part.text ?? part.url ?? (part.data === undefined ? '' : JSON.stringify(part.data))).join('');
  return messageItem(messageId, 'assistant', [{ type: 'output_text', text, annotations: [], logprobs: [] }]);
}

function messageItem(id: string, role: string, content: readonly JsonObject[]): JsonObject {
  return { id: id.startsWith('msg_') ? id : `msg_${id}`, type: 'message', status: 'completed', role, content };
}

function inputPart({ text, raw, url, data, mediaType = 'application/octet-stream', filename }: Part): JsonObject {
  if (text !== undefined) return { type: 'input_text', text };
  if (data !== undefined) return { type: 'input_text', text: JSON.stringify(data) };
  const address = url ?? `data:${mediaType};base64,${raw}`;
  if (mediaType.startsWith('image/')) return { type: 'input_image', detail: 'auto', image_url: address };
  const name: JsonObject = filename === undefined ? {} : { filename };
  return url === undefined ? { type: 'input_file', file_data: address, ...name } : { type: 'input_file', file_url: url, ...name };
}

/** One page of a list in OpenAI's form: `limit`, `order` (default `desc`) and `after`. */
export function listPage(all: readonly JsonObject[], query: string): JsonObject {
  const asked = new URLSearchParams(query);
  const ordered = asked.get('order') === 'asc' ? all : [...all].reverse();
  const after = asked.get('after');
  const from = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const limit = Math.min(100, Math.max(1, Number(asked.get('limit') ?? 20) || 20));
  const data = ordered.slice(from, from + limit);
  const [first, last] = [data[0]?.['id'], data.at(-1)?.['id']];
  return { object: 'list', data, first_id: first ?? null, last_id: last ?? null, has_more: from + limit < ordered.length };
}
