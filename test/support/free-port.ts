import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that Linux, macOS and Windows give to outgoing connections: one of those could take the port before its server listens. */
const [FIRST, COUNT] = [12_000, 20_000];
/** Each worker of Vitest has ports of its own: another one could take the same port before the server of this one listens. */
const WORKERS = 16;
const OWN = COUNT / WORKERS;
const first = FIRST + (Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS) * OWN;
/** A random one to begin with, because other runs of the tests may be at work on this machine. */
let next = Math.floor(Math.random() * OWN);

/** A port of this machine on which nothing listens. Two calls return the same port only if more than a thousand calls are between them. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + next;
    next = (next + 1) % OWN;
    const server = createServer();
    server.listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
