import type { Choice, Json, JsonObject, Message, Part, Task, TaskId, TaskStatus } from '#protocol';
import { createDataPart, getChoicesFromMessage, getTextFromMessage, isDataPart, isObject } from '#protocol';
import type { Resume } from './read.ts';

/** The id of the interrupt for a task's question. A later question of the same task has another id. */
export function interruptIdOf(task: TaskId, { message }: TaskStatus): string {
  return message === undefined || message.messageId === '' ? task : `${task}:${message.messageId}`;
}

/** A question as an AG-UI interrupt. */
export function interruptOf(task: TaskId, status: TaskStatus): JsonObject {
  const { message, state } = status;
  const isAuth = state === 'TASK_STATE_AUTH_REQUIRED';
  const choices = message === undefined ? [] : getChoicesFromMessage(message);
  const isApproval = choices.some(({ kind }) => kind !== undefined);
  const words = message === undefined ? '' : questionText(message);
  return {
    id: interruptIdOf(task, status),
    reason: isAuth ? 'auth_required' : isApproval ? 'approval' : 'input_required',
    ...(words === '' ? {} : { message: words }),
    ...(isAuth ? {} : { responseSchema: schemaOf(message, choices) }),
  };
}

/** The words of a question, and the address to sign in at if it is in a data part only. */
export function questionText(message: Message): string {
  const words = getTextFromMessage(message);
  const urls = message.parts.flatMap((part) => (isDataPart(part) && isObject(part.data) ? [part.data['url']] : [part.url]));
  const missing = urls.filter((url) => typeof url === 'string' && !words.includes(url));
  return [words, ...missing].filter((line) => line !== '').join('\n');
}

/** The schema of the answer: one of the options, a form that the question brings itself, or text. */
function schemaOf(message: Message | undefined, choices: readonly Choice[]): JsonObject {
  if (choices.length > 0) {
    const oneOf = choices.map(({ optionId, name }): JsonObject => ({ const: optionId, title: name }));
    const optionId: JsonObject = { type: 'string', enum: choices.map((choice) => choice.optionId), oneOf };
    return { type: 'object', properties: { optionId }, required: ['optionId'] };
  }
  for (const part of message?.parts ?? []) {
    const schema = isDataPart(part) && isObject(part.data) ? (part.data['schema'] ?? part.data['requestedSchema']) : undefined;
    if (isObject(schema)) return schema;
  }
  return { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
}

/** The parts of the message that answers a question. */
export function answerParts(payload: Json | undefined, question: Message | undefined): readonly Part[] {
  if (payload === undefined || payload === null) return [{ text: 'ok' }];
  if (typeof payload === 'string') return [{ text: payload }];
  if (typeof payload === 'boolean') return [{ text: payload ? 'yes' : 'no' }];
  if (!isObject(payload)) return [createDataPart(payload)];
  const { text } = payload;
  if (typeof text === 'string' && Object.keys(payload).length === 1) return [{ text }];
  const approved = APPROVALS.map((name) => payload[name]).find((value) => typeof value === 'boolean');
  const isChoice = question !== undefined && getChoicesFromMessage(question).length > 0;
  if (isChoice && payload['optionId'] === undefined && approved !== undefined) return [{ text: approved ? 'yes' : 'no' }];
  return [createDataPart(payload)];
}

/** How front ends name a plain yes or no. */
const APPROVALS: readonly string[] = ['approve', 'approved', 'accept', 'accepted', 'confirmed'];

/** What a declined question becomes: the answer that rejects, or undefined where the task has to be canceled. */
export function declineParts({ status }: Task): readonly Part[] | undefined {
  const choices = status.message === undefined ? [] : getChoicesFromMessage(status.message);
  const rejecting = choices.find(({ kind }) => kind === 'reject_once') ?? choices.find(({ kind }) => kind === 'reject_always');
  return rejecting === undefined ? undefined : [createDataPart({ optionId: rejecting.optionId })];
}

/** The waiting task that an answer is for. */
export function taskOfResume({ interruptId }: Resume, waiting: readonly Task[]): Task | undefined {
  return waiting.find(({ id, status }) => interruptIdOf(id, status) === interruptId);
}
