import type { JsonObject } from '#protocol';
import { isObject, parseJson } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import { isTopic } from '../../topics.ts';
import type { CallPath } from '../grammar.ts';
import { extensionsIn } from '../shared/extensions.ts';
import { getA2ABaseTopic } from './topics.ts';

/** The user properties of a request (docs/dialects/sam.md). Every value is text on MQTT and NATS. */
export interface SamProperties {
  readonly clientId: string;
  /** Absent in SAM's cancels, which name only the client. */
  readonly userId?: string;
  readonly replyTo?: string;
  readonly statusTopic?: string;
  readonly userConfig?: JsonObject;
  readonly callPath: CallPath;
  /** The caller is one of ours and reads artifacts. SAM's programs read status messages only. */
  readonly readsArtifacts: boolean;
  /** URIs of the extensions that the caller requests (A2A 1.0.1 §3.3.4). */
  readonly extensions: readonly string[];
}

/** SAM's client id for requests that name none. */
const DEFAULT_CLIENT = 'default_client';
/** SAM's user id for requests that name none. */
export const DEFAULT_USER = 'default_user';

/**
 * Parley's own properties, which SAM's programs ignore: the agents that wait for this one, the replica
 * that responds, the event's number, and whether the caller reads artifacts.
 */
export const CALL_PATH = 'callPath';
export const INSTANCE_TOPIC = 'a2aInstanceTopic';
export const SEQ = 'a2aSeq';
export const READS_ARTIFACTS = 'a2aReadsArtifacts';

/**
 * Responses go only to response topics of this namespace: a caller must not make us publish anywhere
 * else (docs/faults.md, B8).
 */
export function isResponseTopic(namespace: string, topic: string): boolean {
  const base = `${getA2ABaseTopic(namespace)}/`;
  if (!isTopic(topic) || !topic.startsWith(base)) return false;
  const [component = '', direction = ''] = topic.slice(base.length).split('/');
  return ['agent', 'gateway', 'client'].includes(component) && ['response', 'status'].includes(direction);
}

/** Undefined when a topic for responses is not one of this namespace. */
export function readProperties({ properties, responseTopic }: ReceivedMessage, namespace: string): SamProperties | undefined {
  const replyTo = nonEmpty(properties['replyTo']) ?? responseTopic;
  const statusTopic = nonEmpty(properties['a2aStatusTopic']);
  if ([replyTo, statusTopic].some((topic) => topic !== undefined && !isResponseTopic(namespace, topic))) return undefined;
  const userId = nonEmpty(properties['userId']);
  const userConfig = objectIn(properties['a2aUserConfig']);
  const agents = listIn(properties[CALL_PATH]);
  return {
    clientId: nonEmpty(properties['clientId']) ?? DEFAULT_CLIENT,
    ...(userId === undefined ? {} : { userId }),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(statusTopic === undefined ? {} : { statusTopic }),
    ...(userConfig === undefined ? {} : { userConfig }),
    callPath: { depth: depthIn(properties['callDepth']), agents },
    readsArtifacts: properties[READS_ARTIFACTS] === 'true',
    extensions: extensionsIn(properties),
  };
}

function listIn(text = ''): readonly string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}

/** A depth that is not a number counts as too deep, so that text does not get around the limit. */
function depthIn(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  return /^\d{1,6}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

/**
 * SAM's programs sometimes send other values where an object is expected. They are ignored
 * (docs/dialects/sam.md).
 */
function objectIn(text: string | undefined): JsonObject | undefined {
  if (text === undefined || !text.startsWith('{')) return undefined;
  try {
    const read = parseJson(text);
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}
