import type { ContextId, Message, SendRequest, Turn } from '#protocol';
import { externalId, messageId, withoutNotes } from '#protocol';
import { originOf } from './origin.ts';

/** What `open` makes: the origin's name for a conversation, as long as the process knows it. */
export interface Conversation {
  contextId?: ContextId;
}

/** The caller's message under names of ours: two callers may both call theirs `1`, and to the origin we are one. */
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
    // Where callers name tasks, ours has its name before the origin has heard of it.
    alias: externalId(origin?.taskId ?? task.id),
  };
}

/** A2A 1.0.1 §3.4.1: an origin may refuse a context that it has not made. So it gets one that it has, or none. */
async function conversationOf(turn: Turn): Promise<ContextId | undefined> {
  const { contextId: remembered } = turn.conversation as Conversation;
  if (remembered !== undefined) return remembered;
  const before = await turn.before();
  return before === undefined ? undefined : originOf(before)?.contextId;
}
