import type { RpcId } from '#protocol';
import { parseOwnJson } from '#protocol';
import { isResponseTopic } from './properties.ts';

/** Where the replies to one request go. The engine stores it as text with the task. */
export interface SamReplyAddress {
  readonly rpcId: RpcId;
  readonly replyTo: string;
  readonly statusTopic?: string;
  /** The owner of files that are stored as artifacts. */
  readonly userId: string;
}

const PREFIX = 'sam:';

/** Stores where a reply goes, so that it can be published after a restart. */
export function writeAddress({ rpcId, replyTo, statusTopic, userId }: SamReplyAddress): string {
  return `${PREFIX}${JSON.stringify([rpcId, replyTo, statusTopic ?? null, userId])}`;
}

/** Checks the topics again: a stored address is trusted no more than a received one. */
export function readAddress(text: string, namespace: string): SamReplyAddress | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const [rpcId, replyTo, statusTopic, userId] = parseOwnJson<[RpcId, string, string | null, string]>(text.slice(PREFIX.length));
  const topics = [replyTo, ...(statusTopic === null ? [] : [statusTopic])];
  if (!topics.every((topic) => isResponseTopic(namespace, topic))) return undefined;
  return { rpcId, replyTo, userId, ...(statusTopic === null ? {} : { statusTopic }) };
}
