import { type Agent, defineAgent } from '#agents';
import type { Delegation, PeerCall } from '#mesh';
import { delegate, joinMesh } from '#mesh';
import { createUserMessage, getTextFromMessage } from '#protocol';
import { connectMqtt } from '../../../src/mesh/adapters/mqtt.ts';
import { connectNats } from '../../../src/mesh/adapters/nats.ts';

/** Delegates the JSON list of calls in its message and responds with the results. */
const self = process.env['ORCHESTRATOR'] ?? 'orchestrator';
const url = process.env['PARLEY_MESH'] ?? '';
const broker = url.startsWith('nats') ? await connectNats({ servers: url }) : await connectMqtt({ url, sessionSeconds: 0 });
const mesh = joinMesh({ broker, namespace: process.env['PARLEY_NAMESPACE'] ?? 'parley' });
const registry = await mesh.discover();
const caller = await mesh.call({ kind: 'agent', id: self });

const options = { self, registry, caller, timeoutMs: Number(process.env['PEER_TIMEOUT_MS'] ?? 600_000) };

const orchestrator: Agent = defineAgent({
  name: self,
  description: 'Delegates.',
  run: async (turn) => {
    const delegation: Delegation = delegate(turn, options, {
      ask: async (question, agent) => createUserMessage((await turn.ask(`${agent}: ${getTextFromMessage(question)}`)).text),
    });
    const calls = JSON.parse(turn.text) as readonly PeerCall[];
    const results = await delegation.call(calls);
    return JSON.stringify(
      results.map(({ agent, status, error, task }) => ({
        agent,
        status,
        error,
        text: (task?.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text ?? '')).join('|'),
      })),
    );
  },
});

// biome-ignore lint/style/noDefaultExport: agents that are served from files are default exports
export default orchestrator;
