import type { Template } from './kind.ts';

/** A function, with another agent that it may ask. */
export const functionTemplate: Template = {
  doc: 'a TypeScript function',
  say: 'one two three',
  files: (name) => ({ 'agent.ts': agent(name), 'agent.test.ts': TEST }),
};

function agent(name: string): string {
  return `import { A2AClient } from 'parley-a2a';
import { type Agent, defineAgent, status } from 'parley-a2a/agents';

/** Counts the words of a text. Where a colleague is named, it asks that agent what the text is about. */
const agent: Agent = defineAgent({
  name: '${name}',
  description: 'Counts the words of a text.',
  async *run(turn) {
    yield \`\${turn.text.split(/\\s+/).filter((word) => word !== '').length} words.\`;
    const colleague = process.env['COLLEAGUE_URL'];
    if (colleague === undefined) return;
    yield status('Asking a colleague');
    const other = await A2AClient.connect(colleague);
    yield \` \${await other.send(\`What is this about? \${turn.text}\`).text()}\`;
  },
});

export default agent;
`;
}

const TEST = `import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { A2AClient } from 'parley-a2a';
import { serve } from 'parley-a2a/server/node';
import { mockAgent } from 'parley-a2a/tools';
import agent from './agent.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const node of open.splice(0)) await node.close();
  delete process.env['COLLEAGUE_URL'];
});

async function served(one: Parameters<typeof serve>[0]): Promise<string> {
  const node = await serve(one, { port: 0 });
  open.push(node);
  return node.url;
}

test('counts words', async () => {
  const client = await A2AClient.connect(await served(agent));
  assert.equal(await client.send('one two three').text(), '3 words.');
});

test('asks its colleague, here a mock', async () => {
  const mock = mockAgent({ responses: [{ match: { contains: 'tea' }, text: 'It is about tea.' }] });
  process.env['COLLEAGUE_URL'] = await served(mock);
  const client = await A2AClient.connect(await served(agent));
  assert.equal(await client.send('tea or coffee').text(), '3 words. It is about tea.');
  assert.equal(mock.calls.length, 1);
});
`;
