// PARLEY_MESH=mqtt://127.0.0.1:1883 parley serve examples/mesh/orchestrator.ts
import { type Agent, defineAgent, status } from 'parley-a2a/agents';
import { delegate, joinMesh } from 'parley-a2a/mesh';
import { connectMqtt } from 'parley-a2a/mesh/mqtt';

const self = 'orchestrator';
const url = process.env['PARLEY_MESH'] ?? 'mqtt://127.0.0.1:1883';
const mesh = joinMesh({ broker: await connectMqtt({ url, sessionSeconds: 0 }), namespace: process.env['PARLEY_NAMESPACE'] ?? 'parley' });
const registry = await mesh.discover();
const caller = await mesh.call({ kind: 'agent', id: self });

const orchestrator: Agent = defineAgent({
  name: self,
  description: 'Has a researcher and a writer work on it, at once.',
  run: async function* (turn) {
    yield status('Delegating');
    const results = await delegate(turn, { self, registry, caller }).call([
      { agent: 'researcher', task_description: turn.text },
      { agent: 'writer', task_description: turn.text },
    ]);
    for (const { agent, status: outcome, task, error } of results) {
      const text = (task?.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');
      yield `${agent} ${outcome}: ${error ?? text}\n`;
    }
  },
});

export default orchestrator;
