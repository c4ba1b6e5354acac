import type { Socket } from 'node:net';
import { opened } from './server.ts';

/** One block of an event stream, as sent on the wire. */
export interface Block {
  readonly text: string;
  readonly id: number | undefined;
  readonly data: Record<string, Record<string, unknown>> | undefined;
}

export function blocksOf(text: string): readonly Block[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => {
      const id = /^id: (\d+)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      return { text: block, id: id === undefined ? undefined : Number(id), data: data === undefined ? undefined : JSON.parse(data) };
    });
}

export interface StreamOptions {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A stream over its own socket, without HTTP's chunked encoding. It can be broken after any byte. */
export interface RawStream {
  readonly socket: Socket;
  /** Everything so far. */
  text(): string;
  /** Resolves when the server has ended the stream, or it was broken. */
  readonly closed: Promise<void>;
  /** Resets the connection (RST), like a machine that vanishes. */
  break(): void;
}

export async function rawStream(port: number, { path, body = {}, headers = {} }: StreamOptions): Promise<RawStream> {
  const socket = await opened(port);
  const json = JSON.stringify(body);
  const head = {
    Host: `127.0.0.1:${port}`,
    Connection: 'close',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(json)),
    ...headers,
  };
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()).once('end', () => resolve()));
  socket.write(
    `POST ${path} HTTP/1.1\r\n${Object.entries(head)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n${json}`,
  );
  return { socket, closed, text: () => dechunked(bytes), break: () => socket.resetAndDestroy() };
}

function dechunked(bytes: Buffer): string {
  let at = bytes.indexOf('\r\n\r\n') + 4;
  if (at < 4) return '';
  const parts: Buffer[] = [];
  for (;;) {
    const end = bytes.indexOf('\r\n', at);
    const size = end === -1 ? 0 : Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (!(size > 0)) return Buffer.concat(parts).toString('utf8');
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
