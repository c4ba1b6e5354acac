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

it('joins the writes of one turn in order, strings and bytes', async () => {
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

it('flushes before the end of the stream and before a write with a callback', async () => {
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

it('does not write to a destroyed stream', async () => {
  const { stream, pieces } = gathered();
  stream.on('error', () => expect.unreachable());
  stream.write('lost');
  stream.destroy();
  await turn();
  expect(pieces).toEqual([]);
});
