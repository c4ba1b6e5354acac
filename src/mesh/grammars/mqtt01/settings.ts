import type { CallContext, Dialect, Principal } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';
import type { MqttTopics } from './topics.ts';
import { mqttId, mqttTopics } from './topics.ts';

/** How long a requester waits and how often it asks (reference/mqtt §6). */
export interface MqttProfile {
  /** Until the first answer to one attempt. */
  readonly replyFirstTimeoutMs: number;
  /** Silence in the midst of a stream, after which the task is asked for. */
  readonly streamIdleTimeoutMs: number;
  readonly attemptsMax: number;
  /** Before the second attempt, the third, …; each ± 20 %. */
  readonly retryBackoffMs: readonly number[];
}

export const MQTT_PROFILE: MqttProfile = {
  replyFirstTimeoutMs: 15_000,
  streamIdleTimeoutMs: 30_000,
  attemptsMax: 3,
  retryBackoffMs: [1000, 2000, 4000],
};

export interface MqttGrammarOptions {
  /** Default: `$a2a/v1`. Mosquitto delivers nothing to pools under a root that begins with `$`; `a2a/v1` does (reference/mqtt §12). */
  readonly root?: string;
  /** Groups of equivalent agents that those served here belong to. */
  readonly pools?: readonly string[];
  /** Put behind the names of the agents served here: replicas, of which no two may have one name (reference/mqtt §1). */
  readonly instance?: string;
  /** The broker's address as others know it, for cards. */
  readonly url?: string;
  readonly profile?: Partial<MqttProfile>;
  /** Who a request is from, by its `a2a-authorization`. Throws UNAUTHENTICATED. Absent: whoever the broker lets publish. */
  authenticate?(authorization: string | undefined): Promise<Principal>;
  /** What requests carry as `a2a-authorization`: `Bearer …`. Only over TLS (reference/mqtt §5). */
  authorization?(ctx: CallContext): string | undefined | Promise<string | undefined>;
  /** Files come as they are, without names, in messages of their own. Default: in JSON. */
  readonly artifactMode?: 'json' | 'binary';
  /** Between 0 and 1, for what is spread at random. */
  random?(): number;
}

export interface MqttSettings {
  readonly topics: MqttTopics;
  readonly profile: MqttProfile;
  readonly options: MqttGrammarOptions;
}

export function settingsOf(options: MqttGrammarOptions): MqttSettings {
  return { topics: mqttTopics(options.root), profile: { ...MQTT_PROFILE, ...options.profile }, options };
}

/** What an agent that people call so is called on the broker. */
export function idOf(name: string, { instance }: Pick<MqttGrammarOptions, 'instance'>): string {
  return mqttId(instance === undefined ? name : `${name}-${instance}`);
}

function known(id: string): Dialect {
  const dialect = createRegistry(DIALECTS).byId(id);
  if (dialect === undefined) throw new Error(`there is no dialect ${id}`);
  return dialect;
}

export const SPOKEN: Dialect = known('v10.mqtt');
