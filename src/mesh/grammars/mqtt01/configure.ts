import type { ConfiguredGrammar, GrammarSettings } from '../configure.ts';
import { checkSetting, GrammarSettingError } from '../configure.ts';
import { mqttPresence } from './cards.ts';
import { mqttGrammar } from './grammar.ts';
import type { MqttGrammarOptions } from './settings.ts';
import { mqttTopics, readNamespace } from './topics.ts';

/** Builds the grammar of A2A over MQTT from a node's settings. */
export function configureMqtt({ broker, namespace, root, pools, instance }: GrammarSettings): ConfiguredGrammar {
  if (/^(?:nats|tls):/.test(broker))
    throw new GrammarSettingError(
      'broker',
      'A2A over MQTT needs an MQTT broker',
      `with ${broker.split(':')[0]}: use --mesh-grammar sam; mqtt01 needs an address such as mqtt://127.0.0.1:1883`,
    );
  const url = addressForCards(broker);
  const options: MqttGrammarOptions = {
    pools,
    ...(root === undefined ? {} : { root }),
    ...(instance === undefined ? {} : { instance }),
    ...(url === undefined ? {} : { url }),
  };
  const topics = checkSetting('root', () => mqttTopics(root));
  const unit = checkSetting('namespace', () => readNamespace(namespace));
  for (const pool of pools) checkSetting('pools', () => topics.pool(unit, pool));
  return {
    grammar: mqttGrammar(options),
    presenceOf: (agent) => mqttPresence({ ...options, namespace, ...agent }),
    // Every client id contains the namespace, and brokers' access lists rely on it (A2A over MQTT 0.1 §1).
    callerOptions: (id) => ({ clientId: `${namespace}/${id}` }),
  };
}

/** The broker's address without user, password and path. */
function addressForCards(broker: string): string | undefined {
  const url = URL.parse(broker);
  return url === null ? undefined : `${url.protocol}//${url.host}`;
}
