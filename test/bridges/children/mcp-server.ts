import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/** An MCP server written with the official SDK. */
serveStdio(() => {
  const server = new McpServer({ name: 'toolbox', version: '2.0.0' }, { instructions: 'A box of tools.' });
  const add = {
    description: 'Adds.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  };
  server.registerTool('add', add, ({ a, b }) => ({
    content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }],
    structuredContent: { sum: a + b },
  }));
  server.registerTool('shout', { description: 'Says it louder.', inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: 'text', text: text.toUpperCase() }],
  }));
  server.registerTool('picture', { description: 'A picture.' }, () => ({
    content: [
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'https://x.example/a.pdf', name: 'a.pdf', mimeType: 'application/pdf' },
    ],
  }));
  server.registerTool('break', { description: 'Fails.' }, () => ({ content: [{ type: 'text', text: 'out of order' }], isError: true }));
  server.registerTool('die', { description: 'Ends the server.' }, () => process.exit(3));
  server.registerTool('slow', { description: 'Takes its time.' }, async (ctx) => {
    const { progressToken } = ctx.mcpReq._meta ?? {};
    for (let progress = 1; progress <= 100; progress += 1) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      if (ctx.mcpReq.signal.aborted) {
        process.stderr.write('slow was stopped\n');
        break;
      }
      if (progressToken === undefined) continue;
      const params = { progressToken, progress, total: 100, message: `step ${progress}` };
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
    }
    return { content: [{ type: 'text', text: 'done' }] };
  });
  return server;
});
