import type { BrokerOptions, Grammar, MqttGrammarOptions } from '#mesh';
import { getA2ABaseTopic, mqttGrammar, mqttPresence, mqttTopics, samGrammar } from '#mesh';
import type { AgentCard } from '#protocol';
import type { Settings } from '#server';
import { CliError, usage } from '../command.ts';

/** What is spoken on the broker, and how those connect who speak it. */
export interface Spoken {
  readonly grammar: Grammar;
  /** Each agent has a connection of its own, opened with this. Absent: one for all of a process. */
  readonly presenceOf?: (agent: { readonly name: string; readonly card: AgentCard; readonly process: string }) => BrokerOptions;
  /** For those who only call or listen. */
  readonly callerOptions: (id: string) => BrokerOptions;
}

const LEVEL = /^[A-Za-z0-9_.-]{1,64}$/;

/** The grammar of the settings. Whatever of them can't be is said with its flag, before anybody connects. */
export function spokenOn(address: string, settings: Settings): Spoken {
  const { meshInstance } = settings;
  if (meshInstance !== undefined && !LEVEL.test(meshInstance))
    throw usage(`--mesh-instance ${meshInstance}: letters, digits, _ . and - only`);
  switch (settings.meshGrammar) {
    case 'sam':
      return sam(settings);
    case 'mqtt01':
      return mqtt01(address, settings);
  }
}

function sam({ namespace, meshRoot, meshPools }: Settings): Spoken {
  const misplaced = meshRoot === undefined ? (meshPools.length === 0 ? undefined : '--mesh-pool') : '--mesh-root';
  if (misplaced !== undefined)
    throw usage(
      `${misplaced} is for A2A over MQTT`,
      'add --mesh-grammar mqtt01; in the default grammar replicas share requests by themselves',
    );
  said('--namespace', () => getA2ABaseTopic(namespace));
  return { grammar: samGrammar, callerOptions: () => ({}) };
}

function mqtt01(address: string, { namespace, meshRoot, meshPools, meshInstance }: Settings): Spoken {
  if (/^(?:nats|tls):/.test(address))
    throw usage('A2A over MQTT needs an MQTT broker', `${address.split(':')[0]}: speaks --mesh-grammar sam; for mqtt01 say mqtt://…`);
  const url = urlOf(address);
  const options: MqttGrammarOptions = {
    pools: meshPools,
    ...(meshRoot === undefined ? {} : { root: meshRoot }),
    ...(meshInstance === undefined ? {} : { instance: meshInstance }),
    ...(url === undefined ? {} : { url }),
  };
  const topics = said('--mesh-root', () => mqttTopics(meshRoot));
  const grammar = mqttGrammar(options);
  said('--namespace', () => grammar.check?.(namespace));
  const [org = '', unit = ''] = namespace.split('/');
  for (const pool of meshPools) said('--mesh-pool', () => topics.pool({ org, unit }, pool));
  return {
    grammar,
    presenceOf: (agent) => mqttPresence({ ...options, namespace, ...agent }),
    // The profile wants the place in every client's id, and brokers' access lists go by it (reference/mqtt §1).
    callerOptions: (id) => ({ clientId: `${namespace}/${id}` }),
  };
}

/** As others reach the broker, for cards: without what is nobody else's business. */
function urlOf(address: string): string | undefined {
  const url = URL.parse(address);
  return url === null ? undefined : `${url.protocol}//${url.host}`;
}

function said<T>(flag: string, check: () => T): T {
  try {
    return check();
  } catch (thrown) {
    if (thrown instanceof TypeError) throw new CliError(`${flag}: ${thrown.message}`, { exit: 2 });
    throw thrown;
  }
}
