import type { Template } from './kind.ts';

/** The tools of an MCP server. */
export const mcpTemplate: Template = {
  doc: 'the tools of an MCP server',
  say: '{"a": 2, "b": 40}',
  readme: `\`server.ts\` is an MCP server with one tool. Change \`agent.ts\` to use another one, for example \`{ command: 'npx', args: ['-y', 'some-mcp-server'] }\`.
It starts a program on this machine, so its callers need a token. The commands of Parley find the token of this machine by themselves.`,
  dependencies: ['@modelcontextprotocol/server', 'zod'],
  files: (name) => ({ 'agent.ts': agent(name), 'server.ts': SERVER, 'agent.test.ts': TEST }),
};

function agent(name: string): string {
  return `import { join } from 'node:path';
import { mcpAgent } from 'parley-a2a/tools/mcp';

/** Each tool of the MCP server is a skill of this agent. */
export default await mcpAgent({ command: process.execPath, args: [join(import.meta.dirname, 'server.ts')] }, { name: '${name}' });
`;
}

const SERVER = `/** An MCP server on standard input and output. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'calculator', version: '1.0.0' });
  server.registerTool('add', { description: 'Adds two numbers.', inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  return server;
});
`;

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { A2AClient } from 'parley-a2a';
import { tokenAuth } from 'parley-a2a/server';
import { serve } from 'parley-a2a/server/node';
import agent from './agent.ts';

test('calls the tool', async () => {
  const node = await serve(agent, { port: 0, auth: [tokenAuth((text) => text === 'test')] });
  const client = await A2AClient.connect(node.url, { auth: { bearer: 'test' } });
  assert.equal(await client.send([{ data: { a: 2, b: 40 } }]).text(), '42');
  await node.close();
  await agent[Symbol.asyncDispose]();
});
`;
