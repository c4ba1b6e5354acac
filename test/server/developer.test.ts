import { expect, it } from 'vitest';
import { defineAgent } from '#agents';
import { A2AClient } from '#client';
import type { Task } from '#protocol';
import { sendBody, startServer } from '../support/server.ts';
import { post, served } from './keys/serving.ts';

const broken = defineAgent({
  name: 'broken',
  description: '',
  run: () => {
    throw new TypeError('x is not a number');
  },
});

const reasonAt = async (url: string, options: Parameters<typeof A2AClient.connect>[1] = {}): Promise<string> => {
  const { task } = await (await A2AClient.connect(url, options)).send('hi').result();
  return task?.status.message?.parts[0]?.text ?? '';
};

it('tells a caller on this machine what the agent threw, and where', async () => {
  await served(
    {},
    async ({ url }) => {
      expect(await reasonAt(url)).toMatch(
        /^The agent failed: TypeError: x is not a number, at .*developer\.test\.ts:\d+:\d+\)?\. Only callers on this machine/,
      );
    },
    { agent: broken },
  );
});

it('tells authenticated callers, and those of a public address, only that it failed', async () => {
  const token = 'a-token-of-this-test-and-of-no-other';
  await served(
    { token },
    async ({ url }) => {
      expect(await reasonAt(url, { auth: { bearer: token } })).toBe('The agent failed unexpectedly.');
    },
    { agent: broken },
  );
  // Programs on the same machine may pass on the requests of others: a proxy, or a tunnel.
  for (const reachable of [{ url: 'https://agents.example' }, { allowedHosts: ['agents.example'] }, { insecureBehindProxy: true }]) {
    await served(
      reachable,
      async ({ url }) => {
        const { task } = (await (await post(`${url}/message:send`, sendBody('hi'))).json()) as { readonly task: Task };
        const { state, message } = task.status;
        expect([reachable, state, message?.parts]).toEqual([reachable, 'TASK_STATE_FAILED', [{ text: 'The agent failed unexpectedly.' }]]);
        expect(JSON.stringify(task)).not.toContain('not a number');
      },
      { agent: broken },
    );
  }
  const node = await startServer({ agents: [broken] });
  expect(await reasonAt(node.url)).toBe('The agent failed unexpectedly.');
  await node.close();
});

it('asks at the start for a missing description', async () => {
  const lines: string[] = [];
  await served({ log: 'warn' }, async () => {}, { agent: broken, lines });
  expect(lines.join('')).toContain('agent broken has no description');
});

it('names a skill in metadata.skillId', async () => {
  const skilled = defineAgent({
    name: 'skilled',
    description: 'Has skills.',
    skills: [
      { id: 'a', description: 'A.' },
      { id: 'b', description: 'B.' },
    ],
    run: (turn) => `skill ${turn.skill}`,
  });
  await served(
    {},
    async ({ url }) => {
      const client = await A2AClient.connect(url);
      expect(await client.send('x', { skill: 'b' }).text()).toBe('skill b');
      expect(await client.send('x').text()).toBe('skill undefined');
    },
    { agent: skilled },
  );
});
