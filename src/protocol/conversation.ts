import type { ContextId, TenantId } from './ids.ts';
import type { Message } from './message.ts';

/** How much of a conversation to read. The newest messages are read first. */
export interface ConversationRange {
  /** Maximum number of messages. Default 100. */
  readonly messagesMax?: number;
  /** Maximum content of all messages, in characters. Default 262,144. */
  readonly bytesMax?: number;
  /** Only messages before this position: `earlier` of another page. */
  readonly before?: string;
}

/** Messages of a conversation. */
export interface ConversationPage {
  /**
   * What the caller and the agent said to each other, oldest first. An answer is one message with the
   * content of its artifacts. Progress notes and error messages are left out.
   */
  readonly messages: readonly Message[];
  /** The position before the first of these messages. Absent: there are no earlier messages. */
  readonly earlier?: string;
  /** The agent's newest summary. The page has no messages that it covers. */
  readonly summary?: ConversationSummary;
}

/** An agent's own words for the older messages of a conversation. */
export interface ConversationSummary {
  readonly text: string;
  /** The newest message that the summary covers. */
  readonly covers: { readonly taskId: string; readonly messageId: string };
}

/** A request for messages of one of the caller's conversations. */
export interface ConversationRequest extends ConversationRange {
  /** The conversation. */
  readonly contextId: ContextId;
  /** The tenant, if the node has tenants. */
  readonly tenant?: TenantId;
}
