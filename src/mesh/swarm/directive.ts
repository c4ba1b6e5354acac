import type { Json, JsonObject, Message, Metadata, SendRequest } from '#protocol';
import { A2AError, contextId, createUserMessage, getTextFromMessage, isObject } from '#protocol';

/** The kinds of directives of CortexPrism (docs/dialects/cortex.md). */
export const SWARM_KINDS = ['spawn_agent', 'execute_task', 'query_resources', 'forward_message', 'sync_state'] as const;
/** What a directive asks for. */
export type SwarmKind = (typeof SWARM_KINDS)[number];

/** From the least to the most urgent. */
export const SWARM_PRIORITIES = ['low', 'normal', 'high', 'critical'] as const;
/** The most urgent directive runs first. */
export type SwarmPriority = (typeof SWARM_PRIORITIES)[number];

/** How long a directive is valid by default, in milliseconds. */
const SWARM_TTL_MS = 120_000;
const TTL_MS_MAX = 86_400_000;

/** A request of one swarm node to another. */
export interface Directive {
  /** Chosen by the source. Identifies the directive in answers and logs. */
  readonly directiveId: string;
  /** The node that asks. A claim: check the principal before you trust it. */
  readonly sourceNodeId: string;
  /** The node that should act. Another one refuses the directive. */
  readonly targetNodeId?: string;
  /** What is asked for, for example `query_resources`. */
  readonly kind: SwarmKind;
  /** What to do, by kind. */
  readonly payload: JsonObject;
  /** Directives of a higher priority run first. */
  readonly priority: SwarmPriority;
  /** Epoch milliseconds. An expired directive is not executed. */
  readonly expiresAt: number;
  /** The directive that led to this one. */
  readonly parentDirectiveId?: string;
}

/** A directive to send. Missing members are filled in. */
export type NewDirective = Pick<Directive, 'kind' | 'sourceNodeId'> &
  Partial<Pick<Directive, 'payload' | 'priority' | 'targetNodeId' | 'parentDirectiveId' | 'directiveId'>> & { readonly ttlMs?: number };

/** Whether a message is a directive. Its content is not checked. */
export function isDirective({ metadata }: Message): boolean {
  return typeof metadata?.['swarmKind'] === 'string';
}

/** The fields of the envelope. All other fields beside them belong to the payload. */
const ENVELOPE: ReadonlySet<string> = new Set([
  ...['directiveId', 'sourceNodeId', 'targetNodeId', 'kind', 'payload', 'priority'],
  ...['ttlMs', 'createdAt', 'expiresAt', 'parentDirectiveId'],
]);

/**
 * CortexPrism's senders put the payload's fields one level deeper than its receivers expect them. Both
 * levels are read, and the deeper one wins.
 */
export function readDirective(message: Message, now: number): Directive {
  const metadata = message.metadata ?? {};
  const raw = bodyOf(message);
  const kind = metadata['swarmKind'];
  if (!isKind(kind)) throw invalid('metadata.swarmKind', `must be one of ${SWARM_KINDS.join(', ')}`);
  if (raw['kind'] !== undefined && raw['kind'] !== kind)
    throw invalid('kind', `is ${JSON.stringify(raw['kind'])}, and metadata.swarmKind is ${kind}`);
  const flat = Object.fromEntries(Object.entries(raw).filter(([name]) => !ENVELOPE.has(name)));
  const nested = isObject(raw['payload']) ? (raw['payload'] as JsonObject) : {};
  const parent = textIn(raw['parentDirectiveId']);
  const target = textIn(raw['targetNodeId']);
  return {
    directiveId: textIn(raw['directiveId']) ?? `dir_${message.messageId}`,
    sourceNodeId: textIn(raw['sourceNodeId']) ?? textIn(metadata['swarmSourceNodeId']) ?? 'unknown',
    kind,
    payload: { ...flat, ...nested } as JsonObject,
    priority: priorityIn(raw['priority'] ?? metadata['swarmPriority']),
    expiresAt: expiryIn(raw, now),
    ...(parent === undefined ? {} : { parentDirectiveId: parent }),
    ...(target === undefined ? {} : { targetNodeId: target }),
  };
}

/** Writes the payload's fields on both levels, for both kinds of receivers. */
export function writeDirective(given: NewDirective, now: number): SendRequest {
  const { kind, sourceNodeId, payload = {}, priority = 'normal', ttlMs = SWARM_TTL_MS, targetNodeId, parentDirectiveId } = given;
  const directiveId = given.directiveId ?? `dir_${crypto.randomUUID()}`;
  const optional = Object.entries({ targetNodeId, parentDirectiveId }).filter(([, value]) => value !== undefined);
  const body = {
    ...payload,
    ...{ directiveId, kind, payload, priority, sourceNodeId },
    ...{ ttlMs, createdAt: now, expiresAt: now + ttlMs },
    ...Object.fromEntries(optional),
  };
  const metadata: Metadata = { swarmKind: kind, swarmPriority: priority, swarmSourceNodeId: sourceNodeId };
  const message = createUserMessage(JSON.stringify(body), { contextId: contextId(`swarm.${directiveId}`) });
  return { message: { ...message, metadata }, configuration: { acceptedOutputModes: ['text'], historyLength: 0 } };
}

function bodyOf(message: Message): Readonly<Record<string, unknown>> {
  const data = message.parts.find((part) => part.data !== undefined)?.data;
  const text = getTextFromMessage(message);
  if (data === undefined && text === '') return {};
  const raw = data ?? parsed(text);
  if (!isObject(raw)) throw invalid('message.parts', 'must hold one JSON object');
  return raw;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function expiryIn(raw: Readonly<Record<string, unknown>>, now: number): number {
  const ttlMs = raw['ttlMs'] ?? SWARM_TTL_MS;
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) throw invalid('ttlMs', 'must be a number of milliseconds');
  const latest = now + Math.min(ttlMs, TTL_MS_MAX);
  const said = timeIn(raw['expiresAt']) ?? offset(timeIn(raw['createdAt']), ttlMs);
  // Clocks differ: an expiry may be in the past, but never later than the time to live allows.
  return said === undefined ? latest : Math.min(said, latest);
}

function offset(from: number | undefined, ms: number): number | undefined {
  return from === undefined ? undefined : from + ms;
}

function timeIn(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function priorityIn(value: unknown): SwarmPriority {
  if (value === undefined) return 'normal';
  const found = SWARM_PRIORITIES.find((priority) => priority === value);
  if (found === undefined) throw invalid('priority', `must be one of ${SWARM_PRIORITIES.join(', ')}`);
  return found;
}

function isKind(value: unknown): value is SwarmKind {
  return SWARM_KINDS.some((kind) => kind === value);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 256 ? value : undefined;
}

function invalid(field: string, problem: string): A2AError {
  return new A2AError('INVALID_PARAMS', `${field} ${problem}`, { field });
}
