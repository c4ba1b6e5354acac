import type { ContextId, Message, SendRequest, Turn } from '#protocol';
import { externalId, messageId, withoutNotes } from '#protocol';
import { originOf } from './origin.ts';

/** The state of a conversation: the origin's context id, as long as the process runs. */
export interface Conversation {
  contextId?: ContextId;
}

/**
 * The caller's message with ids of ours. Two callers may both use the id `1`, and the origin sees only
 * one caller.
 */
export async function requestFor(turn: Turn, message: Message): Promise<SendRequest> {
  const { task, acceptedOutputModes, history } = turn;
  const { taskId: _, contextId: __, referenceTaskIds: ___, ...said } = message;
  const at = task.history?.findIndex((each, index) => index >= history.length && each.messageId === message.messageId) ?? -1;
  const origin = originOf(task);
  const context = origin?.contextId ?? (await conversationOf(turn));
  const metadata = withoutNotes(task.metadata);
  const isFirst = history.length === 0;
  return {
    message: {
      ...said,
      messageId: messageId(`${task.id}:${at === -1 ? history.length : at}`),
      ...(origin === undefined ? {} : { taskId: origin.taskId }),
      ...(context === undefined ? {} : { contextId: context }),
    },
    ...(acceptedOutputModes.length === 0 ? {} : { configuration: { acceptedOutputModes } }),
    ...(isFirst && metadata !== undefined ? { metadata } : {}),
    // In dialects whose callers name tasks, the task has its name before the origin receives it.
    alias: externalId(origin?.taskId ?? task.id),
  };
}

/**
 * A2A 1.0.1 §3.4.1: an origin may refuse a context that it has not created. So it gets one of its own,
 * or none.
 */
async function conversationOf(turn: Turn): Promise<ContextId | undefined> {
  const { contextId: remembered } = turn.opened as Conversation;
  if (remembered !== undefined) return remembered;
  const before = await turn.before();
  return before === undefined ? undefined : originOf(before)?.contextId;
}
