// CopilotKit's runtime in front of the agent. Install it first: npm install @copilotkit/runtime @ag-ui/client@0.0.59
// Start the agent: parley serve examples/ag-ui/agent.ts
// Then: node copilotkit.mjs http://127.0.0.1:41242/ag-ui
// A page with <CopilotKit runtimeUrl="http://127.0.0.1:4000/api/copilotkit" agent="rooms"> talks to it.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';

process.env.COPILOTKIT_TELEMETRY_DISABLED ??= 'true'; // before the runtime is loaded
const { CopilotRuntime, createCopilotRuntimeHandler } = await import('@copilotkit/runtime/v2');
const { HttpAgent } = await import('@ag-ui/client');

const [url = 'http://127.0.0.1:41242/ag-ui', port = '4000'] = process.argv.slice(2);
const runtime = new CopilotRuntime({ agents: { rooms: new HttpAgent({ url }) } });
const handler = createCopilotRuntimeHandler({ runtime, basePath: '/api/copilotkit' });

const server = createServer(async (incoming, outgoing) => {
  const left = new AbortController();
  outgoing.once('close', () => left.abort());
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  const request = new Request(`http://127.0.0.1${incoming.url}`, {
    ...{ method: incoming.method, headers: incoming.headers, signal: left.signal },
    ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
  });
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else
    Readable.fromWeb(response.body)
      .on('error', () => outgoing.destroy())
      .pipe(outgoing);
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`ready http://127.0.0.1:${server.address().port}/api/copilotkit\n`));
