import type { AgentOutput, ConversationPage, ConversationRange, ConversationSummary, Message, Turn } from '#protocol';
import { SUMMARY_NOTE } from '#protocol';

/** How much of a conversation an agent remembers: `conversation` of `defineAgent`. */
export interface ConversationLimits {
  /** Maximum number of messages. Default 100. */
  readonly messagesMax?: number;
  /** Maximum content of all messages, in characters. Default 262,144. */
  readonly bytesMax?: number;
  /**
   * Called when a conversation has grown beyond these limits, with the older half of it. Returns a
   * summary of those messages, which `turn.conversation()` gives from then on in their place. Without
   * this function they are forgotten.
   */
  readonly onTrim?: (trimmed: TrimmedMessages) => string | Promise<string>;
}

/** Messages that no longer fit into the limits of a conversation. */
export interface TrimmedMessages {
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** The summary of still older messages. The new summary replaces it, so it should repeat its content. */
  readonly summary: string | undefined;
  /** Aborted when the turn is. */
  readonly signal: AbortSignal;
}

/** The conversation before the current message. */
export interface AgentConversation {
  /**
   * Messages of both sides, newest last. An answer is one message with the content of its artifacts;
   * progress notes and errors are left out.
   */
  readonly messages: readonly Message[];
  /** What `onTrim` returned for the messages before these. */
  readonly summary: string | undefined;
  /** There were earlier messages, which are forgotten or summarised. */
  readonly isTrimmed: boolean;
}

/** The conversation of a turn, and the note that a new summary leaves in its task. */
export interface ConversationReader {
  read(): Promise<AgentConversation>;
  /** A status update with the new summary, once. */
  takeNote(): AgentOutput | undefined;
}

/** Further pages that are read for one summary: a summary of more would not be a good one. */
const PAGES_MAX = 20;

/** Reads the conversation when it is first asked for, and summarises what does not fit. */
export function conversationReader(turn: Turn, limits: ConversationLimits = {}): ConversationReader {
  let reading: Promise<AgentConversation> | undefined;
  let note: AgentOutput | undefined;
  const read = async (): Promise<AgentConversation> => {
    const { onTrim, ...range } = limits;
    const page = await turn.conversation(range);
    const { messages, earlier, summary } = page;
    if (onTrim === undefined || earlier === undefined) {
      return { messages, summary: summary?.text, isTrimmed: earlier !== undefined || summary !== undefined };
    }
    const older = await olderMessages(turn, page, range);
    const keptFrom = Math.ceil(messages.length / 2);
    const trimmed = [...older, ...messages.slice(0, keptFrom)];
    const text = await onTrim({ messages: trimmed, summary: summary?.text, signal: turn.signal });
    note = noteOf(text, trimmed.at(-1));
    return { messages: messages.slice(keptFrom), summary: text, isTrimmed: true };
  };
  return {
    read: () => {
      reading ??= read();
      return reading;
    },
    takeNote: () => {
      const taken = note;
      note = undefined;
      return taken;
    },
  };
}

/** The messages before a page that the last summary does not cover, oldest first. */
async function olderMessages(turn: Turn, { earlier, summary }: ConversationPage, range: ConversationRange): Promise<readonly Message[]> {
  let older: readonly Message[] = [];
  let before = earlier;
  for (let pages = 0; before !== undefined && pages < PAGES_MAX; pages += 1) {
    const page: ConversationPage = await turn.conversation({ ...range, before });
    const covered = page.messages.findLastIndex((message) => isCovered(message, summary));
    older = [...page.messages.slice(covered + 1), ...older];
    before = covered === -1 ? page.earlier : undefined;
  }
  return older;
}

function isCovered({ taskId, messageId }: Message, summary: ConversationSummary | undefined): boolean {
  return summary !== undefined && summary.covers.taskId === taskId && summary.covers.messageId === messageId;
}

function noteOf(text: string, last: Message | undefined): AgentOutput | undefined {
  if (last?.taskId === undefined) return undefined;
  return { kind: 'status', metadata: { [SUMMARY_NOTE]: { text, covers: { taskId: last.taskId, messageId: last.messageId } } } };
}
