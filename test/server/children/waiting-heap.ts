import { createServer } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http2';
import { connect as connectHttp2 } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { builtInAgents } from '#agents';
import { createLog } from '#server';
import { serve } from '../../../src/server/adapters/node.ts';

/**
 * Prints how many bytes a waiting stream keeps alive, with both ends of its connection: of a node (`node`), of a node after a request with a body of
 * 100 kB over HTTP/1.1 (`posted`), HTTP/2 (`http2`) or gRPC (`grpc`), or of a plain `node:http` server (`bare`). Needs `--expose-gc`. With the name of
 * a file it also writes a heap snapshot there.
 */
const WARM_UP = 200;
/** Memory that is taken or freed once, such as compiled code, shows in one round. What a stream keeps shows in each, so the median round counts. */
const ROUNDS = 5;
const STREAMS_OF_ROUND = 150;
const BODY_BYTES = 100_000;

const side = process.argv[2] ?? 'node';
const { port, path } = side === 'bare' ? await startBare() : await startNode();
const [id = ''] = path.slice('/tasks/'.length).split(':');
const rpcBody = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } }).padEnd(BODY_BYTES);
const get = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const post = `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n${rpcBody}`;
const rpcBytes = Buffer.from(rpcBody);
const grpcBytes = grpcBody(id);
const open: Record<string, () => Promise<Opened>> = {
  bare: () => openHttp1(get),
  node: () => openHttp1(get),
  posted: () => openHttp1(post),
  http2: () => openHttp2({ ':path': '/', 'a2a-version': '1.0', 'content-type': 'application/json' }, rpcBytes),
  grpc: () =>
    openHttp2({ ':path': '/lf.a2a.v1.A2AService/SubscribeToTask', 'content-type': 'application/grpc', te: 'trailers' }, grpcBytes),
};
await openStreams(WARM_UP);
const opened: Opened[] = [];
const rounds: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const before = await bytesUsed();
  opened.push(...(await openStreams(STREAMS_OF_ROUND)));
  rounds.push(((await bytesUsed()) - before) / STREAMS_OF_ROUND);
}
const bytes = rounds.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)];
if (process.argv[3] !== undefined) (await import('node:v8')).writeHeapSnapshot(process.argv[3]);
process.stdout.write(`${JSON.stringify({ bytes, open: opened.filter(({ destroyed }) => !destroyed).length })}\n`);
process.exit();

type Opened = Pick<Socket, 'destroyed'>;

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
async function openStreams(count: number): Promise<readonly Opened[]> {
  const streams: Opened[] = [];
  const openOne = open[side];
  if (openOne === undefined) throw new Error(`no side ${side}`);
  while (streams.length < count) streams.push(...(await Promise.all(Array.from({ length: 50 }, openOne))));
  return streams;
}

function openHttp1(request: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.once('error', reject);
    socket.on('data', (piece: Buffer) => {
      if (piece.includes('id: ')) resolve(socket);
    });
  });
}

/** The body arrives in two parts. */
function openHttp2(headers: OutgoingHttpHeaders, body: Buffer): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    session.once('error', reject);
    const stream = session.request({ ...headers, ':method': 'POST' });
    stream.once('error', reject).once('data', () => resolve(stream));
    stream.write(body.subarray(0, BODY_BYTES / 5));
    setTimeout(() => stream.end(body.subarray(BODY_BYTES / 5)), 10);
  });
}

/** One message: field 2 is the id of the task, field 15 is unknown and fills the body. */
function grpcBody(id: string): Buffer {
  const field = (number: number, bytes: Buffer): Buffer => {
    const length = [];
    for (let rest = bytes.length; rest > 0; rest >>>= 7) length.push(rest > 127 ? (rest & 127) | 128 : rest);
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
  };
  const message = Buffer.concat([field(2, Buffer.from(id)), field(15, Buffer.alloc(BODY_BYTES))]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** What is freed by callbacks, such as the buffers of a read that has ended, needs turns of the event loop between the collections. */
async function bytesUsed(): Promise<number> {
  for (let times = 0; times < 4; times += 1) {
    await setImmediate();
    globalThis.gc?.();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
