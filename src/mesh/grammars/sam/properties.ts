import type { JsonObject } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import { isTopic } from '../../topics.ts';
import type { CallPath } from '../grammar.ts';
import { getA2ABaseTopic } from './topics.ts';

/** What a request says beside its payload (reference/dialects §4f). Everything is text on MQTT and NATS; what is no text is left out. */
export interface Properties {
  readonly clientId: string;
  readonly userId: string;
  readonly replyTo?: string;
  readonly statusTopic?: string;
  readonly userConfig?: JsonObject;
  readonly trail: CallPath;
}

export const DEFAULT_CLIENT = 'default_client';
export const DEFAULT_USER = 'default_user';

/** Ours, beside those of SAM: names of agents that wait for this one, and who of several replicas answers. */
export const TRAIL = 'callPath';
export const INSTANCE_TOPIC = 'a2aInstanceTopic';
export const SEQ = 'a2aSeq';

/** An answer may only go where answers of this namespace go: a caller must not make us publish anywhere else (reference/faults B8). */
export function isAnswerTopic(namespace: string, topic: string): boolean {
  const base = `${getA2ABaseTopic(namespace)}/`;
  if (!isTopic(topic) || !topic.startsWith(base)) return false;
  const [component = '', direction = ''] = topic.slice(base.length).split('/');
  return ['agent', 'gateway', 'client'].includes(component) && ['response', 'status'].includes(direction);
}

/** Undefined where an address is none of this namespace. */
export function readProperties({ properties, responseTopic }: ReceivedMessage, namespace: string): Properties | undefined {
  const replyTo = filled(properties['replyTo']) ?? responseTopic;
  const statusTopic = filled(properties['a2aStatusTopic']);
  if ([replyTo, statusTopic].some((topic) => topic !== undefined && !isAnswerTopic(namespace, topic))) return undefined;
  const userConfig = objectIn(properties['a2aUserConfig']);
  return {
    clientId: filled(properties['clientId']) ?? DEFAULT_CLIENT,
    userId: filled(properties['userId']) ?? DEFAULT_USER,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(statusTopic === undefined ? {} : { statusTopic }),
    ...(userConfig === undefined ? {} : { userConfig }),
    trail: { depth: countIn(properties['callDepth']), agents: (filled(properties[TRAIL]) ?? '').split(',').filter((name) => name !== '') },
  };
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}

/** What is no number counts as far too deep: nobody gets by the limit with a word. */
function countIn(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  return /^\d{1,6}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

/** Values that should be objects and are not are tolerated (reference/dialects §4f). */
function objectIn(text: string | undefined): JsonObject | undefined {
  if (text === undefined || !text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}
