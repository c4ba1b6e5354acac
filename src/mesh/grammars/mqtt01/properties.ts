import type { ReceivedMessage } from '../../broker.ts';
import type { CallPath } from '../grammar.ts';

/** User properties (A2A over MQTT 0.1 §3). Receivers ignore unknown ones. */
export const STATUS = 'a2a-status';
export const STATUS_SOURCE = 'a2a-status-source';
export const AUTHORIZATION = 'a2a-authorization';
export const CONTEXT_ID = 'a2a-context-id';
export const RESPONDER = 'a2a-responder-agent-id';
export const ARTIFACT_MODE = 'a2a-artifact-mode';
export const EVENT_TYPE = 'a2a-event-type';
export const TASK_ID = 'a2a-task-id';
export const ARTIFACT_ID = 'a2a-artifact-id';
export const CHUNK_SEQNO = 'a2a-chunk-seqno';
export const LAST_CHUNK = 'a2a-last-chunk';
const SECURITY_PROFILE = 'a2a-security-profile';
export const ARTIFACT_UPDATE = 'task-artifact-update';

/**
 * Parley's own: the event's sequence number in the task's log, by which repeats are known; and the
 * agents that wait for this one.
 */
export const SEQ = 'a2a-seq';
const CALL_DEPTH = 'a2a-call-depth';
const CALL_PATH = 'a2a-call-path';

/** How a message is encrypted (A2A over MQTT 0.1 §11, `ubsp-v1`). Undefined for plain messages. */
export function encryptionOf({ properties, contentType = '' }: Pick<ReceivedMessage, 'properties' | 'contentType'>): string | undefined {
  return properties[SECURITY_PROFILE] ?? (/^application\/jose(?:\+json)?(?:$|;)/i.test(contentType) ? contentType : undefined);
}

type Properties = Readonly<Record<string, string>>;

/** Reads which agents have passed the call on. */
export function callPathIn(properties: Properties): CallPath {
  const depth = properties[CALL_DEPTH] ?? '';
  const path = properties[CALL_PATH] ?? '';
  return { depth: /^\d{1,3}$/.test(depth) ? Number(depth) : 0, agents: path === '' ? [] : path.split(',') };
}

export function writeCallPath({ depth, agents }: CallPath): Properties {
  return depth === 0 ? {} : { [CALL_DEPTH]: String(depth), [CALL_PATH]: agents.join(',') };
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Runs once or twice for every message, so it is a plain loop. */
export function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 1) text += HEX[bytes[at] ?? 0];
  return text;
}

export function bytesIn(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length >> 1);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}
