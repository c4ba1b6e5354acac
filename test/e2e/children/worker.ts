import { defineAgent } from '#agents';
import { createEngine } from '#engine';
import { joinMesh } from '#mesh';
import { memoryStore } from '../../../src/engine/adapters/memory.ts';
import { connectMqtt } from '../../../src/mesh/adapters/mqtt.ts';

/** An agent on the broker of the first argument, in a process that can be killed. It sends heartbeats often. */
const [url = '', namespace = ''] = process.argv.slice(2);

const worker = defineAgent({
  name: 'worker',
  description: 'Works for the requested number of milliseconds.',
  run: async (turn) => {
    const ms = Number(/\d+/.exec(turn.text)?.[0] ?? 0);
    await new Promise((resolve) => setTimeout(resolve, ms));
    return `worked for ${ms} ms`;
  },
});

const mesh = joinMesh({ broker: await connectMqtt({ url, sessionSeconds: 0 }), namespace, announceMs: 300 });
const engine = createEngine({ store: memoryStore(), agents: { worker }, replyPublisher: mesh.replyPublisher });
await engine.start();
await mesh.serve({ name: 'worker', card: worker.card, service: engine.serviceOf('worker') });
process.stdout.write('ready\n');
