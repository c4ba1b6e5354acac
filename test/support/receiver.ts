import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '#protocol';

export interface Hit {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

/** What a receiver does with a delivery. By default it accepts it. */
export type Reply = (hit: Hit, response: ServerResponse) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly hits: Hit[];
  /** Maximum number of concurrent requests. */
  readonly most: () => number;
  reply: Reply;
  close(): Promise<void>;
}

/** A webhook on loopback that records every request. */
export async function startReceiver(reply: Reply = (_, response) => void response.writeHead(204).end(), port = 0): Promise<Receiver> {
  let [busy, most] = [0, 0];
  const server = createServer((incoming, response) => {
    busy += 1;
    most = Math.max(most, busy);
    response.on('close', () => {
      busy -= 1;
    });
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const hit = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: performance.now(),
      };
      receiver.hits.push(hit);
      receiver.reply(hit, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: taken } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    hits: [],
    most: () => most,
    reply,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return receiver;
}

/** Expects that every delivery has a valid, recent signature of the node. */
export async function checkSigned(node: string, hits: readonly Hit[]): Promise<void> {
  const keys = (await (await fetch(`${node}/.well-known/jwks.json`)).json()) as { keys: JsonWebKey[] };
  for (const { headers, body } of hits) await verifyWebhook({ headers, body }, { keys });
}
