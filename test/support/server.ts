import { connect, type Socket } from 'node:net';
import { builtInAgents } from '#agents';
import type { Agent } from '#protocol';
import type { HandlerOptions, Log } from '#server';
import { createHandler, createLog } from '#server';
import type { NodeServer, ServeOptions } from '../../src/server/adapters/node.ts';
import { serve } from '../../src/server/adapters/node.ts';

export const QUIET: Log = createLog({ level: 'silent', write: () => {} });

export function builtIn(name: string): Agent {
  const agent = builtInAgents.get(name);
  if (agent === undefined) throw new Error(`no agent ${name}`);
  return agent.create();
}

/** A node on a free port of loopback with `script` at its root and `echo` beside it, unless told otherwise. */
export async function startServer(options: ServeOptions & { readonly agents?: HandlerOptions['agents'] } = {}): Promise<NodeServer> {
  const { agents = [builtIn('script'), builtIn('echo')], ...rest } = options;
  return await serve(agents, { port: 0, log: QUIET, otel: false, ...rest });
}

/** The same without a socket. */
export function handlerOf(options: Partial<HandlerOptions> = {}): ReturnType<typeof createHandler> {
  return createHandler({ agents: [builtIn('script'), builtIn('echo')], log: QUIET, otel: false, ...options });
}

export function jsonRequest(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Request {
  return new Request(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) });
}

let count = 0;

/** The body of a 1.0 send with a new message id. */
export function sendBody(text: string, more: object = {}): Record<string, unknown> {
  count += 1;
  return { message: { messageId: `m-${count}`, role: 'ROLE_USER', parts: [{ text }] }, ...more };
}

export function rpcSend(text: string, method = 'SendMessage'): Record<string, unknown> {
  return { jsonrpc: '2.0', id: 1, method, params: sendBody(text) };
}

export interface RawAnswer {
  readonly text: string;
  readonly status: number;
  /** How long the connection was open after the last sent byte. */
  readonly ms: number;
}

/** Sends raw bytes over a socket, and returns everything received until it is closed, or for `waitMs`. */
export async function raw(port: number, bytes: string | Buffer, { waitMs = 5000 }: { readonly waitMs?: number } = {}): Promise<RawAnswer> {
  const socket = await opened(port);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const began = performance.now();
  socket.write(bytes);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  socket.destroy();
  const text = Buffer.concat(chunks).toString('utf8');
  return { text, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), ms: performance.now() - began };
}

export async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined); // a reset is a valid end of a connection
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return socket;
}

/** One number of `/metrics`. */
export async function metric(url: string, name: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `) || each.startsWith(`${name}{`));
  return Number(line?.slice(line.lastIndexOf(' ') + 1) ?? Number.NaN);
}
