import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answering } from '../support/broken-servers.ts';
import { always, badCalls, json, rpcOf } from '../support/broken-servers.ts';
import { CARD } from '../support/card.ts';
import type { Listening } from '../support/listen.ts';

export const TASK = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };

/** Answers calls: an unknown task is not found, a message gets a reply, a stream has the given frames. */
export function sane(stream: Answering): Answering {
  return async (incoming, outgoing) => {
    const { id, method } = await rpcOf(incoming);
    if (method === 'SendStreamingMessage') return await stream(incoming, outgoing);
    if (method === 'SendMessage') return json(outgoing, 200, { jsonrpc: '2.0', id, result: { task: TASK } });
    json(outgoing, 200, { jsonrpc: '2.0', id, error: { code: -32001, message: 'no such task' } });
  };
}

export function frames(...data: readonly (object | string)[]): Answering {
  return (_, outgoing) => {
    outgoing.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const one of data)
      outgoing.write(`data: ${typeof one === 'string' ? one : JSON.stringify({ jsonrpc: '2.0', id: 1, result: one })}\n\n`);
    setTimeout(() => outgoing.destroy(), 50);
  };
}

export const WORKING: object = { task: { ...TASK, status: { state: 'TASK_STATE_WORKING' } } };
export const SAY: readonly string[] = ['--say', 'hello'];

/** Speaks 0.3, whatever its card declares. */
export const onlyOld: Answering = async (incoming, outgoing) => {
  const { id, method } = await rpcOf(incoming);
  const error = method === 'tasks/get' ? { code: -32001, message: 'Task not found' } : { code: -32601, message: 'Method not found' };
  json(outgoing, 200, { jsonrpc: '2.0', id, error });
};

export async function nobody(): Promise<Listening> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return { url: `http://127.0.0.1:${port}`, close: async () => undefined };
}

export async function selfSigned(): Promise<Listening> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert];
  spawnSync('openssl', [...args, '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']);
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, outgoing) => json(outgoing, 200, CARD));
  rmSync(folder, { recursive: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, close: async () => void server.close() };
}

/** Plain http where https is called. */
export async function withoutTls(): Promise<Listening> {
  const server = await always((_, outgoing) => json(outgoing, 200, CARD));
  return { ...server, url: server.url.replace('http:', 'https:') };
}

/** A card that names gRPC at a port that speaks HTTP/1.1 only. */
export async function grpcAtHttp1(): Promise<Listening> {
  const server: Listening = await always((_, outgoing) => json(outgoing, 200, { ...CARD, ...iface(new URL(server.url).host, 'GRPC') }));
  return server;
}

/** Serves the given card. Its interface has the server's own address unless the card names another. */
export function cardOf(more: object): () => Promise<Listening> {
  return () => badCalls(sane(frames({ task: TASK })), more);
}

export const BEARER: object = {
  securitySchemes: { b: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { b: {} } }],
};
export const refuses: Answering = (_, outgoing) => json(outgoing, 401, {}, { 'WWW-Authenticate': 'Bearer' });
export const iface = (url: string, protocolBinding = 'JSONRPC', protocolVersion = '1.0'): object => ({
  supportedInterfaces: [{ url, protocolBinding, protocolVersion }],
});
