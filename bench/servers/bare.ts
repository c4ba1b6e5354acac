import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The `node:http` baseline. It parses a request and answers with the JSON of an echo agent, or holds a stream of server-sent events
 * (`GET /events`) until `POST /tell` sends the last event to all streams.
 */
const readers = new Set<ServerResponse>();

const server = createServer((request, response) => {
  if (request.method === 'GET') hold(response);
  else if (request.url === '/tell') tell(response);
  else answer(request, response);
});
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })),
);

function answer(request: IncomingMessage, response: ServerResponse): void {
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
}

function hold(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  response.write(`id: 1\ndata: ${JSON.stringify({ task: { id: 'task', status: { state: 'TASK_STATE_WORKING' } } })}\n\n`);
  readers.add(response);
  response.once('close', () => readers.delete(response));
}

function tell(response: ServerResponse): void {
  const event = { statusUpdate: { taskId: 'task', status: { state: 'TASK_STATE_CANCELED', timestamp: new Date().toISOString() } } };
  const frame = `id: 2\ndata: ${JSON.stringify(event)}\n\n`;
  for (const reader of readers) reader.end(frame);
  response.writeHead(200, { 'Content-Length': 2 }).end('{}');
}
