import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { kept } from '#protocol';
import { CliError } from '../command.ts';

/**
 * Serves a `fetch` handler on loopback. A web page must not reach it under a host name that it controls (DNS rebinding), so `Host` must be
 * loopback, and so must `Origin`, which only web pages send.
 */
export async function listenLocally(port: number, path: string, answer: (request: Request) => Promise<Response>): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    exchange(incoming, outgoing, { path, answer }).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (thrown: NodeJS.ErrnoException) => {
      const isTaken = thrown.code === 'EADDRINUSE';
      reject(isTaken ? new CliError(`port ${port} is taken`, { hint: 'choose another with --port, or --port 0 for any' }) : thrown);
    });
    server.listen(port, '127.0.0.1', () => resolve());
  });
  return server;
}

interface LocalHandler {
  readonly path: string;
  readonly answer: (request: Request) => Promise<Response>;
}

/** Answers one request. Rejects foreign hosts and origins, so that no web page can call a tool. */
async function exchange(incoming: IncomingMessage, outgoing: ServerResponse, { path, answer }: LocalHandler): Promise<void> {
  const { host = '', origin } = incoming.headers;
  const url = new URL(incoming.url ?? '/', `http://${host || 'localhost'}`);
  if (!isLocal(url.host) || (origin !== undefined && !(URL.canParse(origin) && isLocal(new URL(origin).host)))) {
    outgoing.writeHead(403).end('only requests from this machine are allowed\n');
    return;
  }
  if (url.pathname !== path) {
    outgoing.writeHead(404).end(`not found; MCP is at ${path}\n`);
    return;
  }
  const left = new AbortController();
  outgoing.once('close', () => left.abort());
  const { method = 'GET' } = incoming;
  const request = new Request(url, {
    method,
    headers: Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
    signal: left.signal,
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: Readable.toWeb(incoming) as unknown as ReadableStream, duplex: 'half' }),
  });
  const response = await answer(kept(request));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body as never), outgoing);
}

function isLocal(host: string): boolean {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(host);
}
