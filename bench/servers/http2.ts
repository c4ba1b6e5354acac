import type { ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

/**
 * The baseline with `node:http2` alone: it sends the frames of a gRPC answer, headers, one message and trailers, and does nothing else. The
 * message is as long as that of an echo agent. Nothing that serves gRPC on `node:http2` costs less.
 */
const MESSAGE_BYTES = 320;
/** One byte that says "not compressed", the length in four bytes, the message. */
const ANSWER = Buffer.alloc(5 + MESSAGE_BYTES);
ANSWER.writeUInt32BE(MESSAGE_BYTES, 1);

const server = createServer();
server.on('stream', (stream) => {
  stream.on('error', ignore);
  stream.on('data', ignore);
  stream.on('end', () => answer(stream));
});
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })),
);

function answer(stream: ServerHttp2Stream): void {
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'x-request-id': 'id-000000000000' }, { waitForTrailers: true });
  stream.write(ANSWER);
  stream.end();
}

function ignore(): void {}
