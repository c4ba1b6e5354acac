import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/** An MCP server whose tool changes something: it adds a line to a file. It answers after a while, so that a test can kill its host between the two. */
const [ledger = '', answerMs = '0'] = process.argv.slice(2);
serveStdio(() => {
  const server = new McpServer({ name: 'ledger', version: '1.0.0' });
  server.registerTool('deploy', { description: 'Deploys.', inputSchema: z.object({ version: z.string() }) }, async ({ version }) => {
    appendFileSync(ledger, `${version}\n`);
    await new Promise((resolve) => setTimeout(resolve, Number(answerMs)));
    return { content: [{ type: 'text', text: `deployed ${version}` }] };
  });
  return server;
});
// Its host may be killed during a call.
process.stdin.on('close', () => process.exit());
