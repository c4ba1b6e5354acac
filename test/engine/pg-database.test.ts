import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { openPgDatabase } from '../../src/engine/adapters/postgres/pg-database.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const AUTHENTICATED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** Answers like a Postgres server until the first statement, and then resets the connection, as a server that crashes. */
async function crashingServer(): Promise<{ readonly url: string; readonly statements: string[] }> {
  const statements: string[] = [];
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.concat([AUTHENTICATED, READY]));
      socket.once('data', (bytes) => {
        statements.push(bytes.toString('latin1'));
        socket.resetAndDestroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { url: `postgres://parley@127.0.0.1:${address.port}/parley`, statements };
}

// Without a listener, an error of the connection would be an exception that nothing catches, and fail the whole run.
it('refuses a read whose new connection breaks before it can be used, and does not end the process', async () => {
  const { url, statements } = await crashingServer();
  const database = await openPgDatabase({ url, readers: 2, answerMsMax: 1000 });
  closing.push(() => database.close());
  for (let round = 0; round < 3; round += 1) {
    await expect(database.read({ name: '', text: 'SELECT 1' })).rejects.toThrow(/ECONNRESET|terminated|not queryable/);
  }
  expect(statements.map((text) => text.includes('SET jit'))).toEqual([true, true, true]);
});
