import type { RpcId } from '#protocol';
import { isAnswerTopic } from './properties.ts';

/** Where the answers to one request go, as the engine keeps it. */
export interface SamReplyAddress {
  readonly rpcId: RpcId;
  readonly replyTo: string;
  readonly statusTopic?: string;
  /** Whose artifacts its files become. */
  readonly userId: string;
}

const PREFIX = 'sam:';

export function writeAddress({ rpcId, replyTo, statusTopic, userId }: SamReplyAddress): string {
  return `${PREFIX}${JSON.stringify([rpcId, replyTo, statusTopic ?? null, userId])}`;
}

/** Checked once more: what was kept is not believed more than what came. */
export function readAddress(text: string, namespace: string): SamReplyAddress | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const [rpcId, replyTo, statusTopic, userId] = JSON.parse(text.slice(PREFIX.length)) as [RpcId, string, string | null, string];
  const topics = [replyTo, ...(statusTopic === null ? [] : [statusTopic])];
  if (!topics.every((topic) => isAnswerTopic(namespace, topic))) return undefined;
  return { rpcId, replyTo, userId, ...(statusTopic === null ? {} : { statusTopic }) };
}
