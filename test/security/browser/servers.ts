import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AttackerServer {
  readonly port: number;
  readonly url: string;
  close(): void;
}

/** Redirects `/to?url=` to that URL, with the same method and body. */
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

/** A server that checks neither host, origin nor content type: it would run every send that it can parse. */
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
        // not a send
      }
      outgoing.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, sends: () => sends, close: () => void server.close().closeAllConnections() };
}
