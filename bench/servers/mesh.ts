import mqtt from 'mqtt';
import { defineAgent } from '#agents';
import { createEngine } from '#engine';
import { joinMesh, mqttGrammar } from '#mesh';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';

/** The other end of the mesh figures: an agent in both grammars, and the baseline with the bare client library. */
const url = process.argv[2] ?? '';

const agent = defineAgent({
  name: 'bench',
  description: 'Echoes the text, or answers with the requested number of words.',
  run: async function* (turn) {
    const words = Number(/^words=(\d+)$/.exec(turn.text)?.[1] ?? 0);
    for (let at = 0; at < words; at += 1) yield `word ${at} `;
    if (words === 0) yield turn.text;
  },
});

for (const grammar of [undefined, mqttGrammar({ root: 'a2a/v1' })]) {
  const mesh = joinMesh({ broker: await connectMqtt({ url, sessionSeconds: 0 }), namespace: 'bench/mesh', ...(grammar && { grammar }) });
  const engine = createEngine({ store: memoryStore(), agents: { bench: agent }, replyPublisher: mesh.replyPublisher });
  await engine.start();
  await mesh.serve({ name: 'bench', card: agent.card, service: engine.serviceOf('bench') });
}

const bare = await mqtt.connectAsync(url, { protocolVersion: 5 });
bare.on('message', (_, payload, { properties }) => {
  const { responseTopic = '', correlationData } = properties ?? {};
  const words = Number(/words=(\d+)/.exec(payload.toString())?.[1] ?? 0);
  const answer = { qos: 1, properties: correlationData === undefined ? {} : { correlationData } } as const;
  if (words === 0) bare.publish(responseTopic, payload, answer);
  for (let at = 0; at < words; at += 1) bare.publish(responseTopic, payload, answer);
});
await bare.subscribeAsync('bare/request', { qos: 1 });
console.log('ready');
