import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { complete, data, defineAgent } from '#agents';
import { mcpMount } from '../../src/tools/adapters/mcp.ts';
import { startServer } from '../support/server.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string };

it('MCP hosts see the version of this package, and typed data before the text', async () => {
  const typed = defineAgent({
    name: 'typed',
    description: 'Answers with data.',
    async *run() {
      yield data({ sum: 42 });
      yield complete('It is 42.');
    },
  });
  const node = await startServer({ agents: [typed], mcp: mcpMount });
  const host = new Client({ name: 'host', version: '1.0.0' });
  await host.connect(new StreamableHTTPClientTransport(new URL(`${node.url}/mcp`)));
  expect(host.getServerVersion()).toMatchObject({ name: 'parley', version });
  const { tools } = await host.listTools();
  const { content } = await host.callTool({ name: tools[0]?.name ?? '', arguments: { message: 'add' } });
  expect(content).toMatchObject([
    { type: 'text', text: '{"sum":42}' },
    { type: 'text', text: expect.stringContaining('It is 42.') },
  ]);
  await host.close();
  await node.close();
});
