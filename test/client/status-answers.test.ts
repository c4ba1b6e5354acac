import { defineAgent, status } from 'parley-a2a/agents';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { A2AClient } from '#client';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { run } from '../cli/run.ts';
import { startServer } from '../support/server.ts';

/** Answers as Microsoft Agent Framework does: in status messages while it works, and with nothing at the end. */
const agent = defineAgent({
  name: 'framework',
  description: 'Answers in status messages.',
  async *run() {
    yield status('The capital is Lima.');
    yield status('It has ten million people.');
  },
});

let server: NodeServer;
beforeAll(async () => {
  server = await startServer({ agents: [agent] });
});
afterAll(() => server.close());

it('an answer that comes only in status messages is the text of the result', async () => {
  const client = await A2AClient.connect(server.url);
  expect(await client.stream('capital of Peru?').text()).toBe('The capital is Lima.\nIt has ten million people.');
  expect(await client.send('capital of Peru?').text()).toBe('The capital is Lima.\nIt has ten million people.');
});

it('parley ask prints it', async () => {
  const { code, out } = await run(['ask', server.url, 'capital of Peru?']);
  expect([code, out]).toEqual([0, 'The capital is Lima.\nIt has ten million people.\n']);
});
