import assert from 'node:assert/strict';
import { defineAgent } from 'parley-a2a/agents';
import { createEngine } from 'parley-a2a/engine';
import { memoryStore } from 'parley-a2a/engine/memory';
import { createSwarmNodes, registerSwarmHandler, swarmAgent } from 'parley-a2a/mesh';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { startServer } from '../../support/server.ts';
import type { DirectiveResult } from './player.ts';

/** Cortex's swarm transport. */
interface SwarmSender {
  sendDirective(endpoint: string, kind: string, payload: object): Promise<DirectiveResult>;
  close?(): void;
}

/** Directives of a Cortex node to a node of ours. */
export function describeSwarm(title: string, open: () => SwarmSender): void {
  describe(`their client: ${title}`, () => {
    let url = '';
    let sender: SwarmSender;
    let stop = async (): Promise<void> => {};
    beforeAll(async () => {
      sender = open();
      const main = defineAgent({ name: 'main', description: 'Does the work.', run: (turn) => `echo: ${turn.text}` });
      const swarm = swarmAgent({
        nodes: createSwarmNodes({ self: 'node-b' }),
        resources: () => ({ agents: 1 }),
        handlers: { spawn_agent: ({ payload }) => `ran ${payload['instruction']}` },
        allow: ({ kind }) => kind !== 'execute_task',
      });
      const engine = createEngine({ store: memoryStore(), agents: { main, swarm } });
      await engine.start();
      const service = registerSwarmHandler(engine.serviceOf('swarm'))(engine.serviceOf('main'));
      const server = await startServer({ agents: [{ name: 'main', card: main.card, service }] });
      url = server.url;
      stop = async () => {
        sender.close?.();
        await server.close();
        await engine.stop({ ms: 100 });
      };
    });
    afterAll(() => stop());

    it('spawns an agent and reads its text', async () => {
      const { status, output } = await sender.sendDirective(`${url}/a2a`, 'spawn_agent', { instruction: 'tests' });
      assert.equal(status, 'completed');
      assert.match(output ?? '', /ran tests/);
    });

    it('gets the reason why a directive is refused', async () => {
      const { status, error } = await sender.sendDirective(`${url}/a2a`, 'execute_task', { command: 'ls' });
      assert.equal(status, 'failed');
      assert.match(error ?? '', /execute_task/);
    });

    it('reads the resources and merges a state', async () => {
      const { output } = await sender.sendDirective(`${url}/a2a`, 'query_resources', {});
      assert.match(output ?? '', /agents/);
      assert.equal((await sender.sendDirective(`${url}/a2a`, 'sync_state', { state: { resources: [] } })).status, 'completed');
    });
  });
}
