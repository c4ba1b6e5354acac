import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { batchWrites } from './batch-writes.ts';

function gathered(): { stream: PassThrough; pieces: string[] } {
  const stream = new PassThrough();
  const pieces: string[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece.toString('latin1')));
  batchWrites(stream);
  return { stream, pieces };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

it('what is written in one turn is one piece, in its order, strings and bytes alike', async () => {
  const { stream, pieces } = gathered();
  stream.cork();
  stream.write(Uint8Array.of(0x30, 0x02));
  stream.write('a/ü', 'utf8');
  stream.write('41', 'hex');
  process.nextTick(() => stream.uncork());
  await turn();
  expect(pieces).toEqual(['0\u0002a/Ã¼A']);
  stream.write('later');
  await turn();
  expect(pieces).toEqual(['0\u0002a/Ã¼A', 'later']);
});

it('what waits goes before the end, and before what somebody waits for', async () => {
  const { stream, pieces } = gathered();
  stream.write('one ');
  const written = new Promise<void>((resolve) => void stream.write('two ', 'utf8', () => resolve()));
  await written;
  stream.write('three');
  stream.end('!');
  await turn();
  expect(pieces.join('')).toBe('one two three!');
  expect(stream.writableEnded).toBe(true);
});

it('a stream that is gone is not written to', async () => {
  const { stream, pieces } = gathered();
  stream.on('error', () => expect.unreachable());
  stream.write('lost');
  stream.destroy();
  await turn();
  expect(pieces).toEqual([]);
});
