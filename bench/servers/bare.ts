import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The platform beside us: `node:http` that parses the request and answers the same JSON as an echo agent would. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const { message } = params;
    const task = {
      id: crypto.randomUUID(),
      contextId: crypto.randomUUID(),
      status: { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() },
      artifacts: [{ artifactId: crypto.randomUUID(), parts: message.parts }],
      history: [message],
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id, result: { task } });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body);
  });
});
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })),
);
