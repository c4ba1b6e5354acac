import { withoutEndSlashes } from '#protocol';
import { isTopic } from '../../topics.ts';

/** Who speaks on an MQTT broker (reference/mqtt §1): a name in a unit of an organisation. It is also its client id there. */
export interface MqttIdentity {
  readonly org: string;
  readonly unit: string;
  readonly agent: string;
}

export const MQTT_ROOT = '$a2a/v1';

const ID = /^[A-Za-z0-9_.-]+$/;
const ID_CHARS_MAX = 128;

/** What may be a level of these topics (reference/mqtt §1). */
export function isMqttId(text: string): boolean {
  return text.length <= ID_CHARS_MAX && ID.test(text);
}

/** A name that people gave, as an id. */
export function mqttId(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{Mark}/gu, '');
  return plain.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, ID_CHARS_MAX) || 'agent';
}

/** The topics of the profile (reference/mqtt §2) under one root: all kinds of them at once, or agents would not find each other. */
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
  /** Who asked, by where it wants its answers. Undefined: nothing may be published there (reference/mqtt §11). */
  requesterOf(replyTopic: string): MqttIdentity | undefined;
  /** Whose card it is: the topic says so, never the card. */
  announcerOf(discoveryTopic: string): MqttIdentity | undefined;
}

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
  if (!isMqttId(id)) throw new TypeError(`${JSON.stringify(id).slice(0, 100)} can't stand in a topic: letters, digits, _ . and - only`);
  return id;
}

/** A mesh's namespace is an organisation and a unit of it. */
export function readNamespace(namespace: string): Pick<MqttIdentity, 'org' | 'unit'> {
  const [org = '', unit = '', more] = namespace.split('/');
  if (!isMqttId(org) || !isMqttId(unit) || more !== undefined) {
    throw new TypeError(
      `${JSON.stringify(namespace).slice(0, 100)} is no place for A2A over MQTT: say {organisation}/{unit}, as acme/plant-1`,
    );
  }
  return { org, unit };
}

export function clientIdOf({ org, unit, agent }: MqttIdentity): string {
  return [org, unit, agent].map(checked).join('/');
}

const GROUP_CHARS_MAX = 64;

/** The same for all members of a pool, and for no other pool (reference/mqtt §9). */
export function poolGroup({ org, unit }: Pick<MqttIdentity, 'org' | 'unit'>, pool: string): string {
  const whole = `a2a.${org}.${unit}.${pool}`;
  const plain = whole.replaceAll(/[^A-Za-z0-9._]/g, '_');
  if (plain.length <= GROUP_CHARS_MAX) return plain;
  const mark = hashOf(whole);
  return `${plain.slice(0, GROUP_CHARS_MAX - mark.length - 1)}_${mark}`;
}

/** FNV-1a: two long names that are cut to the same stay two. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
