import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The `node:http` baseline. It parses a request and answers with the JSON of an echo agent, or with a stream of as many events as the
 * message says (`chunks=N`). Or it holds a stream of server-sent events (`GET /events`) until `POST /tell` sends the last event to all streams.
 */
const readers = new Set<ServerResponse>();
const CARD = '/.well-known/agent-card.json';

const server = createServer((request, response) => {
  if (request.url === CARD) response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"name":"bare"}');
  else if (request.method === 'GET') hold(response);
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
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const { message } = params;
    if (method === 'SendStreamingMessage') {
      void stream(id, Number(/chunks=(\d+)/.exec(message.parts[0].text)?.[1] ?? 0), response);
      return;
    }
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

/** Writes events in groups of 16, and waits whenever the socket is full. */
async function stream(id: unknown, count: number, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  const ids = { taskId: crypto.randomUUID(), contextId: crypto.randomUUID() };
  for (let at = 0; at < count; at += 16) {
    const frames = Array.from({ length: Math.min(16, count - at) }, (_, nth) => {
      const artifact = { artifactId: 'answer', parts: [{ text: `chunk ${at + nth} of the answer`.padEnd(32) }] };
      const result = { artifactUpdate: { ...ids, artifact, append: true } };
      return `id: ${at + nth}\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
    });
    if (!response.write(frames.join(''))) await once(response, 'drain');
  }
  response.end();
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
