import { connect, type Socket } from 'node:net';

/** A client that sends a GET request and reads nothing of the response. */
export function unread(port: number, path: string, headers: readonly string[] = []): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined); // the server disconnects it
  socket.pause();
  socket.write(`${[`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`);
  return socket;
}
