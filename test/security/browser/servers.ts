import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AttackerServer {
  readonly port: number;
  readonly url: string;
  close(): void;
}

/** Sends whoever comes to `/to?url=` there, by the same method and with the same body. */
export async function attackerServer(): Promise<AttackerServer> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    const to = new URL(incoming.url ?? '/', 'http://own').searchParams.get('url');
    outgoing.writeHead(to === null ? 200 : 307, { 'Access-Control-Allow-Origin': '*', ...(to === null ? {} : { Location: to }) }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://evil.example:${port}`, close: () => void server.close().closeAllConnections() };
}

export interface NaiveServer {
  readonly port: number;
  readonly sends: () => number;
  close(): void;
}

/** Does as servers do that look at neither host, origin nor type: it would have run every send that it can read. */
export async function naiveServer(): Promise<NaiveServer> {
  let sends = 0;
  const server = createServer((incoming, outgoing) => {
    let text = '';
    incoming.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    incoming.on('end', () => {
      try {
        JSON.parse(text);
        sends += 1;
      } catch {
        // nothing that it could run
      }
      outgoing.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, sends: () => sends, close: () => void server.close().closeAllConnections() };
}
