import { chmodSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import type { Log } from '../../observability/log.ts';
import type { HttpHost } from './http-server.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly socket: string | undefined;
  readonly log: Log;
}

/** Takes connections from here on. Returns where. */
export async function listen({ server, isTls }: HttpHost, { host, port, socket, log }: ListenOptions): Promise<string> {
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
  // From here on an error is a connection that could not be taken (no more files): the others go on.
  server.on('error', (thrown) => log.error('a connection could not be taken', thrown));
  if (socket !== undefined) return `unix:${socket}`;
  const { address, family, port: taken } = server.address() as AddressInfo;
  return `${isTls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
}

/** Whoever may open the file may call, so it is its owner's alone from its first moment. */
function listenAlone(server: Server, path: string, done: () => void): void {
  // A worker thread has no mask of its own; there the mode is set a moment later.
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

/** A process that was killed leaves its socket behind; one that still answers keeps it. */
async function removeLeftover(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const isAnswered = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
    probe.once('connect', () => probe.destroy());
  });
  if (!isAnswered) rmSync(path);
}
