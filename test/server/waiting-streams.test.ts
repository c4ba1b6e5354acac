import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startNode } from '../support/processes.ts';

const PROGRAM = fileURLToPath(new URL('children/waiting-heap.ts', import.meta.url));
/** More than a plain stream of `node:http` keeps alive. On Node 24 it varies from 1,200 to 1,650. It was 4,100 while streams waited with promises. */
const MORE_BYTES_MAX = 2800;
/** Far less than the body of 100 kB with which the stream was opened. It is 9,000 (HTTP/1.1) to 22,000 (gRPC) on Node 24. */
const POSTED_BYTES_MAX = 50_000;

async function bytesOf(side: string): Promise<number> {
  const child = startNode(['--expose-gc', PROGRAM, side]);
  await child.ended;
  const { bytes, open } = JSON.parse(child.lines()[0] ?? '{}') as { readonly bytes?: number; readonly open?: number };
  expect(open, child.errors()).toBe(750);
  return bytes ?? Number.NaN;
}

it('a stream that waits for an event keeps little more alive than one of node:http', async () => {
  expect((await bytesOf('node')) - (await bytesOf('bare'))).toBeLessThan(MORE_BYTES_MAX);
});

it.each(['posted', 'http2', 'grpc'])('a stream that waits does not keep the body of its request (%s)', async (side) => {
  expect(await bytesOf(side)).toBeLessThan(POSTED_BYTES_MAX);
});
