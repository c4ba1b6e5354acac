import type { Caller } from '#bindings';
import type { CallContext, Dialect } from '#protocol';
import { requireDialect } from '../shared/dialect.ts';
import type { MqttTopics } from './topics.ts';
import { mqttId, mqttTopics } from './topics.ts';

/** Timeouts and retries of a requester (A2A over MQTT 0.1 §6). */
export interface MqttProfile {
  /** The time to wait for the first response to one attempt. */
  readonly replyFirstTimeoutMs: number;
  /** A stream without events for this time makes the requester ask for the task. */
  readonly streamIdleTimeoutMs: number;
  readonly attemptsMax: number;
  /** The pauses before the second attempt, the third, …; each ± 20 %. */
  readonly retryBackoffMs: readonly number[];
}

/** The values that the profile recommends. */
const MQTT_PROFILE: MqttProfile = {
  replyFirstTimeoutMs: 15_000,
  streamIdleTimeoutMs: 30_000,
  attemptsMax: 3,
  retryBackoffMs: [1000, 2000, 4000],
};

/** Options of `mqttGrammar`. */
export interface MqttGrammarOptions {
  /**
   * The root of all topics. Default: `$a2a/v1`. Mosquitto delivers nothing to pools under a root that
   * begins with `$`; use `a2a/v1` there.
   */
  readonly root?: string;
  /** Groups of equivalent agents that the agents served here belong to. */
  readonly pools?: readonly string[];
  /**
   * Appended to the names of the agents served here. Replicas need it, because a name belongs to one
   * process (A2A over MQTT 0.1 §1).
   */
  readonly instance?: string;
  /** The broker's address for cards, as other programs reach it. */
  readonly url?: string;
  /** Overrides of timeouts and retries. */
  readonly profile?: Partial<MqttProfile>;
  /**
   * Identifies the caller and its tenant by the property `a2a-authorization`. Throws UNAUTHENTICATED.
   * Absent: everyone who may publish on the broker, in no tenant.
   */
  authenticate?(authorization: string | undefined): Promise<Caller>;
  /**
   * The `a2a-authorization` of our own requests, such as `Bearer …`. Use it only over TLS (A2A over
   * MQTT 0.1 §5).
   */
  authorization?(ctx: CallContext): string | undefined | Promise<string | undefined>;
  /**
   * `binary`: files come as raw bytes in messages of their own, without file names. Default: in JSON.
   */
  readonly artifactMode?: 'json' | 'binary';
  /** A number between 0 and 1, for the jitter of pauses. */
  random?(): number;
}

/** The options with all defaults filled in. */
export interface MqttSettings {
  readonly topics: MqttTopics;
  readonly profile: MqttProfile;
  readonly options: MqttGrammarOptions;
}

/** Fills in the defaults and checks the root of the topics. */
export function settingsOf(options: MqttGrammarOptions): MqttSettings {
  return { topics: mqttTopics(options.root), profile: { ...MQTT_PROFILE, ...options.profile }, options };
}

/** The id on the broker of an agent with this name. */
export function idOf(name: string, { instance }: Pick<MqttGrammarOptions, 'instance'>): string {
  return mqttId(instance === undefined ? name : `${name}-${instance}`);
}

/** The dialect of the payloads. */
export const DIALECT: Dialect = requireDialect('v10.mqtt');
