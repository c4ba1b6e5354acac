import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defineAgent } from '#agents';
import { A2AClient } from '#client';
import { readWorkflow } from '#workflows';
import { findAgent } from '../../src/cli/serve/find-agent.ts';
import { resolved, served } from '../server/keys/serving.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer } from '../support/server.ts';

const folder = scratchFolder();
const shout = defineAgent({ name: 'shout', description: 'Says it louder.', run: (turn) => `${turn.text.toUpperCase()}!` });

function flow(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

it('serves a workflow in a file, with agents by name and by address, and its result is text', async () => {
  const elsewhere = await startServer({ agents: [shout] });
  const path = flow(
    'flow.yaml',
    `name: twice
description: Says it twice.
steps:
  here: { agent: shout, say: "{{input.text}}?" }
  there: { agent: "${elsewhere.url}" }
result: { first: "{{here}}", both: "{{here}} {{there}}" }
`,
  );
  await served({ agents: [path, shout] }, async ({ url }) => {
    const client = await A2AClient.connect(url);
    expect(await client.send('hello').text()).toBe('first: HELLO?!\nboth: HELLO?! HELLO?!!');
  });
  await elsewhere.close();
});

it("serves a workflow of Solace Agent Mesh's form", async () => {
  const path = flow(
    'sam.yml',
    `workflow:
  name: sam-flow
  description: One node.
  nodes:
    - { id: only, type: agent, agent_name: echo, instruction: "{{workflow.input.text}}" }
  output_mapping: { answer: "{{only.output.text}}" }
`,
  );
  await served({ agents: [path, 'echo'] }, async ({ url }) => {
    expect(await (await A2AClient.connect(url)).send('hi').text()).toBe('hi');
  });
});

it('says where a workflow is wrong, and which agent is missing', async () => {
  const settings = resolved({ memory: true });
  await expect(findAgent(flow('bad.yaml', 'name: x\ndescription: y\nsteps: {}\n'), settings)).rejects.toThrow('steps');
  await expect(findAgent(join(folder, 'none.yaml'), settings)).rejects.toThrow('there is no file');
  await served({ agents: [flow('lone.yaml', 'name: x\ndescription: y\nsteps: { a: { agent: nobody } }\n'), 'echo'] }, async ({ url }) => {
    await expect((await A2AClient.connect(url)).send('hi').text()).rejects.toThrow('nobody');
  });
});

it('reads the short form: a step waits for the one above it, unless after says otherwise', () => {
  const { nodes, output } = readWorkflow({
    name: 'n',
    description: 'd',
    steps: {
      a: { agent: 'x' },
      b: { agent: 'y', after: [] },
      c: { agent: 'z', after: ['a', 'b'], say: '{{a}} {{b.score}} {{c.status}} {{other.x}}' },
    },
  });
  expect([...nodes.values()].map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
    ['a', []],
    ['b', []],
    ['c', ['a', 'b']],
  ]);
  expect(nodes.get('c')).toMatchObject({ instruction: '{{a.output.text}} {{b.output.score}} {{c.status}} {{other.x}}' });
  expect(output).toEqual({ text: '{{c.output.text}}' });
});
