import type { RpcId } from '#protocol';
import { parseOwnJson } from '#protocol';
import { bytesIn, hexOf } from './properties.ts';
import type { MqttTopics } from './topics.ts';

/** Where the replies to one request go. The engine stores it as text with the task. */
export interface MqttReplyAddress {
  readonly rpcId: RpcId;
  readonly topic: string;
  /** Opaque bytes that every reply carries back unchanged. */
  readonly correlation: Uint8Array;
  /** Every event as it happens, or the task when it is settled. */
  readonly wants: 'events' | 'task';
  /** `binary`: files may be sent as raw bytes in messages of their own. */
  readonly artifacts: 'json' | 'binary';
}

const PREFIX = 'mqtt01:';

/** Stores where a reply goes, so that it can be published after a restart. */
export function writeAddress({ rpcId, topic, correlation, wants, artifacts }: MqttReplyAddress): string {
  return `${PREFIX}${JSON.stringify([rpcId, topic, hexOf(correlation), wants, artifacts])}`;
}

type Stored = readonly [MqttReplyAddress['rpcId'], string, string, MqttReplyAddress['wants'], MqttReplyAddress['artifacts']];

/** Checks the topic again: a stored address is trusted no more than a received one. */
export function readAddress(text: string, topics: MqttTopics): MqttReplyAddress | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const [rpcId, topic, correlation, wants, artifacts] = parseOwnJson<Stored>(text.slice(PREFIX.length));
  return topics.requesterOf(topic) === undefined ? undefined : { rpcId, topic, correlation: bytesIn(correlation), wants, artifacts };
}
