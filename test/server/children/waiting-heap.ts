import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { builtInAgents } from '#agents';
import { createLog } from '#server';
import { serve } from '../../../src/server/adapters/node.ts';

/**
 * Prints how many bytes of the heap a waiting stream keeps alive, with both ends of its connection: of a node (`node`) or of a plain `node:http`
 * server (`bare`). Needs `--expose-gc`. With the name of a file it also writes a heap snapshot there.
 */
const WARM_UP = 200;
const STREAMS = 400;

const { port, path } = process.argv[2] === 'node' ? await startNode() : await startBare();
await openStreams(WARM_UP);
const before = heapUsed();
const sockets = await openStreams(STREAMS);
const bytes = (heapUsed() - before) / STREAMS;
if (process.argv[3] !== undefined) (await import('node:v8')).writeHeapSnapshot(process.argv[3]);
process.stdout.write(`${JSON.stringify({ bytes, open: sockets.filter(({ destroyed }) => !destroyed).length })}\n`);
process.exit();

interface Side {
  readonly port: number;
  readonly path: string;
}

async function startNode(): Promise<Side> {
  const agent = builtInAgents.get('script');
  if (agent === undefined) throw new Error('there is no script agent');
  const log = createLog({ level: 'silent', write: () => {} });
  const { url, port } = await serve(agent.create(), { port: 0, log, otel: false });
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'sleep=600000' }] };
  const body = JSON.stringify({ message, configuration: { returnImmediately: true } });
  const response = await fetch(`${url}/message:send`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  const { task } = (await response.json()) as { readonly task: { readonly id: string } };
  return { port, path: `/tasks/${task.id}:subscribe` };
}

async function startBare(): Promise<Side> {
  const readers = new Set<unknown>();
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    response.write('id: 1\ndata: {}\n\n');
    readers.add(response);
    response.once('close', () => readers.delete(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, path: '/' };
}

/** In groups, so that no connection waits for its place. Each stream has got its first event. */
async function openStreams(count: number): Promise<readonly Socket[]> {
  const opened: Socket[] = [];
  while (opened.length < count) opened.push(...(await Promise.all(Array.from({ length: 50 }, open))));
  return opened;
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`));
    socket.once('error', reject);
    socket.on('data', (piece: Buffer) => {
      if (piece.includes('id: ')) resolve(socket);
    });
  });
}

function heapUsed(): number {
  for (let times = 0; times < 4; times += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
