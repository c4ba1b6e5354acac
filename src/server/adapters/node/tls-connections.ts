import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';

/**
 * Ends the connections of a TLS server that do not finish their handshake in time: Node reports them as `tlsClientError`, and leaves them
 * open. Returns a function that disconnects all clients, also those in the handshake, which `closeAllConnections` does not know.
 */
export function watchTlsConnections(server: Server | TlsServer): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // Before Node's own listener, whose `clientError` would write an answer that waits for the end of the handshake.
  server.prependListener('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
