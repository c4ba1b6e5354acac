import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { grpcClient } from '../support/grpc.ts';
import {
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  frameTypes,
  GOAWAY,
  HEADERS,
  literal,
  PREFACE,
  PRIORITY,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../support/http2-frames.ts';
import { metric, opened, startServer } from '../support/server.ts';

/** Attacks by frames that Node's own client can't send (docs/security.md). */
let server: NodeServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.close());

const CALL = Buffer.concat(
  Object.entries({
    ':method': 'POST',
    ':scheme': 'http',
    ':path': '/lf.a2a.v1.A2AService/SendMessage',
    ':authority': '127.0.0.1',
    'content-type': 'application/grpc',
  }).map(([name, value]) => literal(name, value)),
);
/** A frame of gRPC with the first of 100 bytes. */
const BEGUN = Buffer.from([0, 0, 0, 0, 100, 10]);
const MANY = 2000;

interface Attacker {
  readonly socket: Socket;
  received(): readonly number[];
}

async function attacker(): Promise<Attacker> {
  const socket = await opened(server.port);
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.on('error', () => undefined);
  const received = (): readonly number[] => frameTypes(Buffer.concat(pieces));
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS)]));
  await eventually(() => expect(received()).toContain(SETTINGS));
  return { socket, received };
}

/** Sends frames until the connection is closed. Returns how many were sent. */
async function flood({ socket }: Attacker, framesOf: (at: number) => Buffer, max = MANY): Promise<number> {
  let sent = 0;
  for (; sent < max && !socket.destroyed; sent += 1) {
    socket.write(framesOf(sent));
    if (sent % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await eventually(() => expect(socket.destroyed).toBe(true));
  return sent;
}

async function expectServed(): Promise<void> {
  const client = grpcClient(server.port);
  expect((await client.call('list', {})).tasks).toEqual([]);
  client.close();
  await eventually(async () => expect(await metric(server.url, 'parley_streams_open')).toBe(0));
}

describe('H12: floods by frames', () => {
  it('headers that are small on the wire and large in memory are refused', async () => {
    const { socket, received } = await attacker();
    const repeated = Buffer.alloc(12_000, 0xbe); // the newest header of the table, 12,000 times: 47 MB
    const bomb = Buffer.concat([CALL, literal('x-bomb', 'x'.repeat(3900), true), repeated]);
    socket.write(frame(HEADERS, bomb, { flags: END_HEADERS | END_STREAM, stream: 1 }));
    await eventually(() => expect(received()).toContain(RST_STREAM));
    expect(received()).not.toContain(DATA);
    socket.destroy();
    await expectServed();
  });

  /** A client that is not allowed to reset many streams makes the server do it (CVE-2025-8671). */
  it.each<readonly [string, number, (stream: number) => Buffer]>([
    ['a window of 0', 0, (stream) => frame(WINDOW_UPDATE, Buffer.alloc(4), { stream })],
    ['a window that is too large', 0, (stream) => frame(WINDOW_UPDATE, uint32(0x7f_ff_ff_ff), { stream })],
    ['data after the end', END_STREAM, (stream) => frame(DATA, BEGUN, { stream })],
    ['a stream that depends on itself', 0, (stream) => frame(PRIORITY, Buffer.concat([uint32(stream), Buffer.alloc(1)]), { stream })],
  ])('streams that the server has to reset end the connection: %s', async (_, flags, bad) => {
    const one = await attacker();
    const sent = await flood(one, (at) => {
      const stream = 2 * at + 1;
      return Buffer.concat([frame(HEADERS, CALL, { flags: END_HEADERS, stream }), frame(DATA, BEGUN, { flags, stream }), bad(stream)]);
    });
    expect(sent).toBeLessThan(MANY);
    expect(one.received()).toContain(GOAWAY);
    await expectServed();
  });

  it.each<readonly [string, Buffer]>([
    ['empty data', frame(DATA, Buffer.alloc(0), { stream: 1 })],
    ['priorities', frame(PRIORITY, Buffer.from([0, 0, 0, 0, 1]), { stream: 1 })],
    ['frames of an unknown type', frame(0x30, Buffer.alloc(4))],
  ])('%s end the connection', async (_, one) => {
    const attack = await attacker();
    attack.socket.write(frame(HEADERS, CALL, { flags: END_HEADERS, stream: 1 }));
    const thousand = Buffer.concat(Array.from({ length: 1000 }, () => one));
    await flood(attack, () => thousand);
    expect(attack.received()).toContain(GOAWAY);
    await expectServed();
  });
});

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
