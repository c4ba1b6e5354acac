import type { Tools } from './link.ts';

/** Path and content of every file of a new project. */
export function projectFiles(name: string, tools: Tools): Readonly<Record<string, string>> {
  return {
    'package.json': manifest(name, tools),
    'tsconfig.json': tsconfig(tools),
    'agent.ts': agent(name),
    'agent.test.ts': TEST,
    'README.md': readme(name),
    '.gitignore': 'node_modules/\n',
  };
}

/** `package.json` of the project. */
function manifest(name: string, { dependency, isCheckout, versions }: Tools): string {
  const condition = isCheckout ? ' --conditions=our-src' : '';
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: { start: 'parley serve ./agent.ts', test: `node${condition} --test`, check: 'tsc' },
    dependencies: { 'parley-a2a': dependency },
    devDependencies: { '@types/node': versions.types, typescript: versions.typescript },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** `tsconfig.json` of the project. */
function tsconfig({ isCheckout }: Tools): string {
  const content = {
    compilerOptions: {
      target: 'es2024',
      lib: ['es2024', 'esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      skipLibCheck: true,
      ...(isCheckout ? { customConditions: ['our-src'], exactOptionalPropertyTypes: true } : {}),
    },
    include: ['*.ts'],
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** `agent.ts`: an agent that counts words and can ask another agent. */
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

function readme(name: string): string {
  return `# ${name}

An A2A agent. \`npm start\` serves it at http://127.0.0.1:41242, in every version and dialect of A2A; \`npm test\` tests it; \`npm run check\`
checks its types.

Talk to it from another terminal: \`npx parley ask localhost:41242 "one two three"\`.
`;
}
