import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CARD } from './card.ts';
import type { Listening } from './listen.ts';
import { listenRaw } from './listen.ts';

/** Servers with one fault each. */
export type Answering = (incoming: IncomingMessage, outgoing: ServerResponse) => void | Promise<void>;

/** The same answer to everything. */
export async function always(answer: Answering): Promise<Listening> {
  return await listenRaw(async (incoming, outgoing) => void (await answer(incoming, outgoing)));
}

/** A valid card, and this answer to every call. */
export async function badCalls(answer: Answering, card: object = {}): Promise<Listening> {
  const server = await listenRaw(async (incoming, outgoing) => {
    if (incoming.url?.startsWith('/.well-known/') !== true) return void (await answer(incoming, outgoing));
    const supportedInterfaces = [{ url: `${server.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    json(outgoing, 200, { ...CARD, supportedInterfaces, ...card });
  });
  return server;
}

export function json(outgoing: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  outgoing.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function html(outgoing: ServerResponse, status = 200): void {
  outgoing.writeHead(status, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Welcome</title>');
}

/** The received JSON-RPC request. */
export async function rpcOf(incoming: IncomingMessage): Promise<{ readonly id: unknown; readonly method: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id: unknown; method: string };
}

/** A server whose self-signed certificate expired yesterday. */
export async function expiredTls(): Promise<Listening & { readonly ca: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'));
  const [key, csr, cert] = ['key.pem', 'request.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string, string];
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key);
  openssl('req', '-new', '-key', key, '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-out', csr);
  openssl('x509', '-req', '-in', csr, '-signkey', key, '-days', '-1', '-copy_extensions', 'copy', '-out', cert);
  const ca = readFileSync(cert, 'utf8');
  const server = createServer({ key: readFileSync(key), cert: ca }, (_, outgoing) => json(outgoing, 200, CARD));
  rmSync(folder, { recursive: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ca,
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function openssl(...args: readonly string[]): void {
  const made = spawnSync('openssl', args, { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
}
