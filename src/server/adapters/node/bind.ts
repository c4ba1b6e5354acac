import { chmodSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import type { Log } from '../../observability/log.ts';
import type { HttpHost } from './http-server.ts';

/** Where to listen. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly socket: string | undefined;
  readonly log: Log;
}

/** Starts listening and returns the URL. */
export async function listen(nodeHost: HttpHost, { host, port, socket, log }: ListenOptions): Promise<string> {
  const { server } = nodeHost;
  if (socket !== undefined) await removeLeftover(socket);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    const done = (): void => {
      server.off('error', reject);
      resolve();
    };
    if (socket === undefined) server.listen(port, host, done);
    else listenAlone(server, socket, done);
  });
  // From here on, an error means that one connection could not be accepted (no file descriptors left). Other connections continue.
  server.on('error', (thrown) => log.error('a connection could not be accepted', thrown));
  return urlOf(nodeHost, socket);
}

/** Where a host that listens can be reached. */
export function urlOf({ server, isTls }: HttpHost, socket: string | undefined): string {
  if (socket !== undefined) return `unix:${socket}`;
  const { address, family, port: taken } = server.address() as AddressInfo;
  return `${isTls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
}

/** Everyone who can open the socket file can call, so it is created with access for its owner only. */
function listenAlone(server: Server, path: string, done: () => void): void {
  // A worker thread can't set the umask; there only the chmod below protects the file.
  const before = isMainThread ? process.umask(0o177) : undefined;
  try {
    server.listen(path, () => {
      chmodSync(path, 0o600);
      done();
    });
  } finally {
    if (before !== undefined) process.umask(before);
  }
}

/**
 * Removes the socket file of a process that was killed. If a process still answers on it, it stays, and
 * listening fails.
 */
async function removeLeftover(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const isAnswered = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
    probe.once('connect', () => probe.destroy());
  });
  if (!isAnswered) rmSync(path);
}
