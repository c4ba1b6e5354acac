import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { CARD } from '../support/card.ts';
import type { Listening } from '../support/listen.ts';
import { listenRaw } from '../support/listen.ts';

/** One received request. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** JSON-RPC: its method and params. HTTP+JSON: undefined and the body. */
  readonly rpc: string | undefined;
  readonly params: Record<string, unknown>;
}

/** The answer to a call: a result, an error, or frames. `cut` breaks the connection after the frames. */
export type Reply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly frames: readonly unknown[]; readonly cut?: boolean; readonly holdMs?: number }
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> };

export type Answer = (params: Record<string, unknown>, request: Recorded) => Reply | Promise<Reply>;

export interface FakeAgent extends Listening {
  readonly requests: Recorded[];
  /** Calls of one JSON-RPC method. */
  calls(rpc: string): readonly Recorded[];
}

export interface FakeOptions {
  /** Members of the card that differ; a function gets the agent's own address. */
  readonly card?: object | ((url: string) => object);
  readonly on: Readonly<Record<string, Answer>>;
}

/** A scripted 1.0 agent over JSON-RPC that records every request. */
export async function fakeAgent({ card = {}, on }: FakeOptions): Promise<FakeAgent> {
  const requests: Recorded[] = [];
  const server = await listenRaw(async (incoming, outgoing) => {
    const request = await recorded(incoming);
    requests.push(request);
    if (request.path === '/.well-known/agent-card.json') {
      const supportedInterfaces = [{ url: `${server.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
      const more = typeof card === 'function' ? card(server.url) : card;
      return send(outgoing, 200, { ...CARD, supportedInterfaces, ...more });
    }
    const answer = on[request.rpc ?? `${request.method} ${request.path}`] ?? on['*'];
    if (answer === undefined)
      return send(outgoing, 200, { jsonrpc: '2.0', id: idOf(request), error: { code: -32601, message: 'no such method' } });
    await reply(outgoing, await answer(request.params, request), idOf(request));
  });
  return { ...server, requests, calls: (rpc) => requests.filter((request) => request.rpc === rpc) };
}

const ids = new WeakMap<Recorded, unknown>();

function idOf(request: Recorded): unknown {
  return ids.get(request);
}

async function recorded(incoming: IncomingMessage): Promise<Recorded> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const body = (/^\s*[{[]/.test(text) ? JSON.parse(text) : {}) as Record<string, unknown>;
  const isRpc = body['jsonrpc'] === '2.0';
  const request: Recorded = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    rpc: isRpc ? String(body['method']) : undefined,
    params: (isRpc ? (body['params'] ?? {}) : body) as Record<string, unknown>,
  };
  ids.set(request, body['id']);
  return request;
}

function send(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

async function reply(outgoing: ServerResponse, answer: Reply, id: unknown): Promise<void> {
  if ('status' in answer) {
    outgoing.writeHead(answer.status, answer.headers ?? { 'Content-Type': 'text/plain' }).end(answer.body ?? '');
    return;
  }
  if (!('frames' in answer)) return send(outgoing, 200, { jsonrpc: '2.0', id, ...answer });
  outgoing.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const frame of answer.frames) {
    const data = typeof frame === 'string' ? frame : JSON.stringify({ jsonrpc: '2.0', id, result: frame });
    outgoing.write(`data: ${data}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  if (answer.holdMs !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.holdMs));
  if (answer.cut === true) outgoing.destroy();
  else outgoing.end();
}

/** A task in the form of 1.0. */
export function taskOf(state: string, more: object = {}): Record<string, unknown> {
  return { id: 't-1', contextId: 'c-1', status: { state: `TASK_STATE_${state}`, timestamp: '2026-09-02T08:00:01Z' }, ...more };
}

export function statusOf(state: string): Record<string, unknown> {
  return { statusUpdate: { taskId: 't-1', contextId: 'c-1', status: { state: `TASK_STATE_${state}` } } };
}
