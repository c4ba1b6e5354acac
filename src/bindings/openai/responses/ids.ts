import type { Json } from '#protocol';
import { base64ToBytes, bytesToBase64, parseJson } from '#protocol';

/** What the id of a response tells. Nothing about it is stored, so ids stay valid across restarts and nodes. */
export interface ResponseRef {
  /** Name of the agent. */
  readonly agent: string;
  readonly task: string;
  /** The message that the response answers. A task has several if it asked something. */
  readonly message: string;
  /** Unix time in seconds. */
  readonly created: number;
}

export function responseId({ agent, task, message, created }: ResponseRef): string {
  return `resp_${packed([agent, task, message, created])}`;
}

/** Undefined: another server made the id. */
export function readResponseId(id: string): ResponseRef | undefined {
  const [agent, task, message, created] = unpacked(id, 'resp_');
  if (typeof agent !== 'string' || typeof task !== 'string' || typeof message !== 'string' || typeof created !== 'number') return undefined;
  return { agent, task, message, created };
}

/** A tool call that names its task, so that a client without server-side state can answer it too. */
export function callId(task: string, id: string): string {
  return `call_${packed([task, id])}`;
}

export function readCallId(id: string): { readonly task: string; readonly id: string } | undefined {
  const [task, inner] = unpacked(id, 'call_');
  return typeof task === 'string' && typeof inner === 'string' ? { task, id: inner } : undefined;
}

/** The id of a conversation is that of its context. It starts with the time at which it was made. */
export function conversationId(created: number, random: string): string {
  return `conv_${created.toString(16).padStart(10, '0')}${random}`;
}

/** The time in a conversation's id. 0: another program made the context. */
export function createdOf(conversation: string): number {
  return Number.parseInt(/^conv_([0-9a-f]{10})/.exec(conversation)?.[1] ?? '0', 16);
}

function packed(values: readonly Json[]): string {
  const base64 = bytesToBase64(new TextEncoder().encode(JSON.stringify(values)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function unpacked(id: string, prefix: string): readonly Json[] {
  if (!id.startsWith(prefix)) return [];
  try {
    const bytes = base64ToBytes(id.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/'));
    const values = parseJson(new TextDecoder().decode(bytes));
    return Array.isArray(values) ? values : [];
  } catch {
    return [];
  }
}
