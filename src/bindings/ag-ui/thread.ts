import type { Json, JsonObject, Message, Task, TaskId } from '#protocol';
import { getTextFromMessage, turnsOf } from '#protocol';

/** The id under which an artifact's text is a message of the assistant. */
export function textIdOf(task: TaskId, artifact: string): string {
  return `${task}:${artifact}`;
}

/** Ids of front ends are sometimes just numbers. Those are made unique with the thread's id. */
const UNIQUE_CHARS = 16;

export function messageIdFor(threadId: string, id: string): string {
  return id.length >= UNIQUE_CHARS ? id : `${threadId}/${id}`;
}

function ownId(threadId: string, id: string): string {
  return id.startsWith(`${threadId}/`) ? id.slice(threadId.length + 1) : id;
}

/**
 * The messages of one task, for a front end that opens its thread again: what the user said, the
 * agent's texts under the ids with which they continue, its questions and its closing words. Progress notes
 * are left out.
 */
export function taskMessages(threadId: string, task: Task): readonly JsonObject[] {
  return turnsOf(task).flatMap(({ message, artifacts, status }) => {
    const texts = artifacts.flatMap(({ artifactId, parts }) => {
      const content = parts.map(({ text }) => text ?? '').join('');
      return content === '' ? [] : [assistantMessage(textIdOf(task.id, artifactId), content)];
    });
    const words = status.message === undefined || status.state === 'TASK_STATE_WORKING' ? '' : getTextFromMessage(status.message);
    const isSaid = words === '' || texts.some(({ content }) => content === words);
    const closing = isSaid || status.message === undefined ? [] : [assistantMessage(status.message.messageId, words)];
    return [...(message === undefined ? [] : [userMessage(threadId, message)]), ...texts, ...closing];
  });
}

/** A message of an earlier task. */
export function threadMessage(threadId: string, message: Message): JsonObject {
  if (message.role === 'ROLE_USER') return userMessage(threadId, message);
  return assistantMessage(message.messageId, message.parts.map(({ text }) => text ?? '').join(''));
}

function assistantMessage(id: string, content: string): JsonObject {
  return { id, role: 'assistant', content };
}

function userMessage(threadId: string, { messageId, parts }: Message): JsonObject {
  const id = ownId(threadId, messageId);
  const texts = parts.filter(({ text }) => text !== undefined);
  if (texts.length === parts.length) return { id, role: 'user', content: texts.map(({ text }) => text ?? '').join('\n') };
  return { id, role: 'user', content: parts.flatMap(contentOf) };
}

function contentOf({ text, raw, url, data, mediaType, filename }: Message['parts'][number]): readonly Json[] {
  if (text !== undefined) return [{ type: 'text', text }];
  if (data !== undefined) return [{ type: 'text', text: JSON.stringify(data) }];
  const mimeType = mediaType ?? 'application/octet-stream';
  const family = mimeType.split('/')[0] ?? '';
  const type = ['image', 'audio', 'video'].includes(family) ? family : 'document';
  const source: JsonObject = raw === undefined ? { type: 'url', value: url ?? '', mimeType } : { type: 'data', value: raw, mimeType };
  return [{ type, source, ...(filename === undefined ? {} : { metadata: { filename } }) }];
}
