// CopilotKit's runtime in front of a node, in its own process: node runtime.mjs FOLDER NAME=URL…
// Its telemetry must be off before it is loaded.
process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
process.env.DO_NOT_TRACK = '1';
const { createServer } = await import('node:http');
const { Readable } = await import('node:stream');
const { join } = await import('node:path');
const { pathToFileURL } = await import('node:url');

const [folder = '', ...named] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(folder, 'node_modules', path)).href);
const { CopilotRuntime, createCopilotRuntimeHandler } = await load('@copilotkit/runtime/dist/v2/index.mjs');
const { HttpAgent } = await load('@ag-ui/client/dist/index.mjs');

const agents = Object.fromEntries(
  named.map((each) => [each.slice(0, each.indexOf('=')), new HttpAgent({ url: each.slice(each.indexOf('=') + 1) })]),
);
const handler = createCopilotRuntimeHandler({ runtime: new CopilotRuntime({ agents }), basePath: '/api/copilotkit' });

const server = createServer(async (incoming, outgoing) => {
  const left = new AbortController();
  outgoing.once('close', () => left.abort());
  const body = incoming.method === 'GET' ? undefined : Readable.toWeb(incoming);
  const request = new Request(`http://127.0.0.1${incoming.url}`, {
    ...{ method: incoming.method, headers: incoming.headers, signal: left.signal },
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  });
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else
    Readable.fromWeb(response.body)
      .on('error', () => outgoing.destroy())
      .pipe(outgoing);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready http://127.0.0.1:${server.address().port}/api/copilotkit\n`));
