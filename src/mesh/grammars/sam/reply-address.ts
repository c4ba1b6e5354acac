import type { RpcId } from '#protocol';
import { parseOwnJson } from '#protocol';
import type { StructuredInvocation } from './invocation.ts';
import { isResponseTopic } from './properties.ts';

/** Where the replies to one request go. The engine stores it as text with the task. */
export interface SamReplyAddress {
  readonly rpcId: RpcId;
  readonly replyTo: string;
  readonly statusTopic?: string;
  /** The owner of files that are stored as artifacts. */
  readonly userId: string;
  readonly clientId?: string;
  /** The agent's name in topics. */
  readonly agent?: string;
  /** The caller reads artifacts, and not only status messages. */
  readonly readsArtifacts?: true;
  /** The request came from a node of a workflow. */
  readonly invocation?: StructuredInvocation;
}

const PREFIX = 'sam:';

/** Stores where a reply goes, so that it can be published after a restart. */
export function writeAddress({ rpcId, replyTo, statusTopic, userId, ...more }: SamReplyAddress): string {
  return `${PREFIX}${JSON.stringify([rpcId, replyTo, statusTopic ?? null, userId, more])}`;
}

type Stored = [RpcId, string, string | null, string, Pick<SamReplyAddress, 'clientId' | 'agent' | 'readsArtifacts' | 'invocation'>?];

/** Checks the topics again: a stored address is trusted no more than a received one. */
export function readAddress(text: string, namespace: string): SamReplyAddress | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const [rpcId, replyTo, statusTopic, userId, more = {}] = parseOwnJson<Stored>(text.slice(PREFIX.length));
  const topics = [replyTo, ...(statusTopic === null ? [] : [statusTopic])];
  if (!topics.every((topic) => isResponseTopic(namespace, topic))) return undefined;
  return { rpcId, replyTo, userId, ...more, ...(statusTopic === null ? {} : { statusTopic }) };
}

/** The name of the caller in a response topic: `…/gateway/response/{caller}/{task}`. */
export function callerIn(replyTo: string): string {
  return replyTo.split('/response/')[1]?.split('/')[0] ?? '';
}
