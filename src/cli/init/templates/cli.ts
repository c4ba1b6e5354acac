import type { Template } from './kind.ts';

/** A coding CLI, or any other program. */
export const cliTemplate: Template = {
  doc: 'a coding CLI or any other program',
  say: 'list the files of this folder',
  readme: `The agent runs the program in \`PROGRAM\`, or Claude Code. \`{prompt}\` is the message. \`PROGRAM="codex exec {prompt}" npm start\` runs another one.
It runs commands on this machine, so its callers need a token. The commands of Parley find the token of this machine by themselves.`,
  files: (name) => ({ 'agent.ts': agent(name), 'agent.test.ts': TEST, 'pretend.js': PRETEND }),
};

function agent(name: string): string {
  return `import { createCommandAgent, type Agent } from 'parley-a2a/agents';

/** Runs a program for each message. What it prints is the answer; a line that ends in [y/N] is a question to the caller. */
const agent: Agent = createCommandAgent(
  {
    name: '${name}',
    argv: (process.env['PROGRAM'] ?? 'claude -p {prompt}').split(' '),
    approvePattern: /\\[y\\/N\\]\\s*$/i,
  },
  { cwd: import.meta.dirname },
);

export default agent;
`;
}

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { A2AClient } from 'parley-a2a';
import { tokenAuth } from 'parley-a2a/server';
import { serve } from 'parley-a2a/server/node';

// The program of the test, instead of a real coding CLI.
process.env['PROGRAM'] = \`\${process.execPath} pretend.js {prompt}\`;
const { default: agent } = await import('./agent.ts');

test('runs the program, and asks its caller before it acts', async () => {
  const node = await serve(agent, { port: 0, auth: [tokenAuth((text) => text === 'test')] });
  const client = await A2AClient.connect(node.url, { auth: { bearer: 'test' } });
  const asked = client.send('tidy up');
  const { task } = await asked.result();
  assert.equal(task?.status.state, 'TASK_STATE_INPUT_REQUIRED');
  assert.match(await asked.answer('yes').text(), /I did: tidy up/);
  await node.close();
});
`;

const PRETEND = `// Stands for a coding CLI in the test: it asks, waits for y or n, and answers.
import { createInterface } from 'node:readline';

process.stdout.write('May I change files? [y/N] ');
for await (const line of createInterface({ input: process.stdin })) {
  console.log(line === 'y' ? \`I did: \${process.argv[2]}\` : 'I did nothing.');
  break;
}
process.exit(0);
`;
