import type { RpcId } from '#protocol';
import { bytesIn, hexOf } from './properties.ts';
import type { MqttTopics } from './topics.ts';

/** Where the answers to one request go, as the engine keeps it. */
export interface MqttReplyAddress {
  readonly rpcId: RpcId;
  readonly topic: string;
  /** Bytes that mean nothing to us and go back as they came. */
  readonly correlation: Uint8Array;
  /** Every event as it happens, or the task when it is done. */
  readonly wants: 'events' | 'task';
  /** Files may come as they are, in messages of their own. */
  readonly artifacts: 'json' | 'binary';
}

const PREFIX = 'mqtt01:';

export function writeAddress({ rpcId, topic, correlation, wants, artifacts }: MqttReplyAddress): string {
  return `${PREFIX}${JSON.stringify([rpcId, topic, hexOf(correlation), wants, artifacts])}`;
}

/** Checked once more: what was kept is not believed more than what came. */
export function readAddress(text: string, topics: MqttTopics): MqttReplyAddress | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const [rpcId, topic, correlation, wants, artifacts] = JSON.parse(text.slice(PREFIX.length)) as [
    MqttReplyAddress['rpcId'],
    string,
    string,
    MqttReplyAddress['wants'],
    MqttReplyAddress['artifacts'],
  ];
  return topics.requesterOf(topic) === undefined ? undefined : { rpcId, topic, correlation: bytesIn(correlation), wants, artifacts };
}
