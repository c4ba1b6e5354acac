import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A proxy to a server on loopback that can drop all data in both directions without closing a connection. */
export interface Partition {
  readonly port: number;
  cut(): void;
  /** Existing connections stay dead, as behind a router that has forgotten them. New connections work. */
  heal(): void;
  close(): void;
}

export async function partition(port: number): Promise<Partition> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect(port, '127.0.0.1');
    for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    if (isCut) return;
    client.pipe(server);
    server.pipe(client);
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    heal: () => {
      isCut = false;
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
