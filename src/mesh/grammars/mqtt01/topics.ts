import { withoutEndSlashes } from '#protocol';
import { isTopic } from '../../topics.ts';

/**
 * A participant on an MQTT broker (A2A over MQTT 0.1 §1): a name in a unit of an organisation. It is
 * also the MQTT client id.
 */
export interface MqttIdentity {
  readonly org: string;
  readonly unit: string;
  readonly agent: string;
}

/** The root that the profile prescribes. */
const MQTT_ROOT = '$a2a/v1';

const ID = /^[A-Za-z0-9_.-]+$/;
const ID_CHARS_MAX = 128;

/** Whether a text may be a level of these topics (A2A over MQTT 0.1 §1). */
export function isMqttId(text: string): boolean {
  return text.length <= ID_CHARS_MAX && ID.test(text);
}

/** Turns a name that a person chose into an id. */
export function mqttId(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{Mark}/gu, '');
  return plain.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, ID_CHARS_MAX) || 'agent';
}

/**
 * The topics of A2A over MQTT (0.1 §2). All of them are under one root, so that agents find each other.
 */
export interface MqttTopics {
  readonly root: string;
  discovery(who: MqttIdentity): string;
  /** The cards of one unit. */
  discoveryFilter(where: Pick<MqttIdentity, 'org' | 'unit'>): string;
  request(who: MqttIdentity): string;
  pool(where: Pick<MqttIdentity, 'org' | 'unit'>, pool: string): string;
  reply(who: MqttIdentity, suffix: string): string;
  event(who: MqttIdentity): string;
  eventFilter(where: Pick<MqttIdentity, 'org' | 'unit'>): string;
  /**
   * The requester, by its reply topic. Undefined: nothing may be published there (A2A over MQTT 0.1
   * §11).
   */
  requesterOf(replyTopic: string): MqttIdentity | undefined;
  /** The agent of a card. The topic names it, never the card. */
  announcerOf(discoveryTopic: string): MqttIdentity | undefined;
}

/** The topics below a root. Throws a TypeError for a root that is not a topic. */
export function mqttTopics(given: string = MQTT_ROOT): MqttTopics {
  const root = withoutEndSlashes(given);
  if (!isTopic(root) || root.split('/').includes('')) throw new TypeError(`${JSON.stringify(given)} can't be the root of topics`);
  const join = (kind: string, ...ids: readonly string[]): string => [root, kind, ...ids.map(checked)].join('/');
  const read = (kind: string, topic: string): readonly string[] | undefined => {
    const levels = topic.startsWith(`${root}/${kind}/`) ? topic.slice(root.length + kind.length + 2).split('/') : [];
    return levels.length >= 3 && levels.every(isMqttId) ? levels : undefined;
  };
  return {
    root,
    discovery: ({ org, unit, agent }) => join('discovery', org, unit, agent),
    discoveryFilter: ({ org, unit }) => `${join('discovery', org, unit)}/+`,
    request: ({ org, unit, agent }) => join('request', org, unit, agent),
    pool: ({ org, unit }, pool) => join('request', org, unit, 'pool', pool),
    reply: ({ org, unit, agent }, suffix) => join('reply', org, unit, agent, suffix),
    event: ({ org, unit, agent }) => join('event', org, unit, agent),
    eventFilter: ({ org, unit }) => `${join('event', org, unit)}/+`,
    requesterOf: (topic) => {
      const [org = '', unit = '', agent = '', suffix] = (isTopic(topic) ? read('reply', topic) : undefined) ?? [];
      return suffix === undefined ? undefined : { org, unit, agent };
    },
    announcerOf: (topic) => {
      const [org = '', unit = '', agent = '', more] = read('discovery', topic) ?? [];
      return agent === '' || more !== undefined ? undefined : { org, unit, agent };
    },
  };
}

function checked(id: string): string {
  if (!isMqttId(id))
    throw new TypeError(`${JSON.stringify(id).slice(0, 100)} can't be part of a topic: use letters, digits, _ . and - only`);
  return id;
}

/** The namespace of a mesh is an organisation and a unit of it. */
export function readNamespace(namespace: string): Pick<MqttIdentity, 'org' | 'unit'> {
  const [org = '', unit = '', more] = namespace.split('/');
  if (!isMqttId(org) || !isMqttId(unit) || more !== undefined) {
    throw new TypeError(
      `${JSON.stringify(namespace).slice(0, 100)} is not a namespace for A2A over MQTT: use {organisation}/{unit}, such as acme/plant-1`,
    );
  }
  return { org, unit };
}

/** The MQTT client id of a participant, by which brokers' access lists know it. */
export function clientIdOf({ org, unit, agent }: MqttIdentity): string {
  return [org, unit, agent].map(checked).join('/');
}

const GROUP_CHARS_MAX = 64;

/**
 * The shared subscription of a pool: the same for all of its members, and for no other pool (A2A over
 * MQTT 0.1 §9).
 */
export function poolGroup({ org, unit }: Pick<MqttIdentity, 'org' | 'unit'>, pool: string): string {
  const whole = `a2a.${org}.${unit}.${pool}`;
  const plain = whole.replaceAll(/[^A-Za-z0-9._]/g, '_');
  if (plain.length <= GROUP_CHARS_MAX) return plain;
  const mark = hashOf(whole);
  return `${plain.slice(0, GROUP_CHARS_MAX - mark.length - 1)}_${mark}`;
}

/** FNV-1a. Two long names that are cut to the same text keep different groups. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
