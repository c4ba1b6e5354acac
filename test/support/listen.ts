import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { Fetch } from '#protocol';

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** A real HTTP server on loopback around a web handler. */
export async function listen(handler: Fetch): Promise<Listening> {
  return await listenRaw(async (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.on('close', () => left.abort());
    const response = await handler(toRequest(incoming, left.signal));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) outgoing.end();
    else await pump(response.body, outgoing);
  });
}

export async function listenRaw(handler: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    handler(incoming, outgoing).catch((thrown: unknown) => outgoing.destroy(thrown as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
  const method = incoming.method ?? 'GET';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' } : {};
  return new Request(`http://${incoming.headers.host}${incoming.url}`, { method, headers, signal, ...body } as RequestInit);
}

async function pump(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader();
  outgoing.on('close', () => void reader.cancel().catch(() => undefined));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!outgoing.write(value)) await new Promise((resolve) => outgoing.once('drain', resolve).once('close', resolve));
  }
  outgoing.end();
}
