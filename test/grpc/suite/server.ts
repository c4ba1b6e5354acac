import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { JsonObject } from '@bufbuild/protobuf';
import type { AdmittedCall, HttpRequest } from '#bindings';
import { isObject, LOCAL_PRINCIPAL } from '#protocol';
import { DEFAULT_ENV } from '../../../src/bindings/options.ts';
import type { HttpHost } from '../../../src/server/adapters/node/http-server.ts';
import { createHttpHost } from '../../../src/server/adapters/node/http-server.ts';
import { DEFAULT_SERVER_LIMITS } from '../../../src/server/limits.ts';
import { SILENT } from '../../../src/server/observability/log.ts';
import { createMetrics } from '../../../src/server/observability/metrics.ts';
import { suiteServices } from './methods.ts';
import type { SuiteSchema } from './schema.ts';

/**
 * Listens on a Unix socket for `relay.mjs`. Each connection carries one `ServerCompatRequest`, after its length in four bytes, and gets one
 * `ServerCompatResponse`: the address of a server with the suite's service, on the listener and the gRPC roads of a node. The server closes
 * with the connection.
 */
export function serveSuite(schema: SuiteSchema, path: string): Promise<Server> {
  const server = createServer((socket) => {
    let given = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      given = Buffer.concat([given, piece]);
      if (given.length < 4 || given.length < 4 + given.readUInt32BE()) return;
      socket.removeAllListeners('data').resume();
      start(schema, socket, schema.read('ServerCompatRequest', given.subarray(4, 4 + given.readUInt32BE())));
    });
  });
  return new Promise((resolve) => server.listen(path, () => resolve(server)));
}

function start(schema: SuiteSchema, socket: Socket, request: JsonObject): void {
  const tls = tlsOf(request);
  const host = hostFor(schema, Number(request['messageReceiveLimit'] ?? 0), tls);
  socket.once('close', () => {
    host.closeAll();
    host.server.close();
  });
  host.server.listen(0, '127.0.0.1', () => {
    const { port } = host.server.address() as AddressInfo;
    const pemCert = tls === undefined ? {} : { pemCert: tls.cert.toString('base64') };
    const response = schema.write('ServerCompatResponse', { host: '127.0.0.1', port, ...pemCert });
    const head = Buffer.alloc(4);
    head.writeUInt32BE(response.length);
    socket.write(Buffer.concat([head, response]));
  });
}

interface Credentials {
  readonly cert: Buffer;
  readonly key: Buffer;
}

function tlsOf({ useTls, serverCreds }: JsonObject): Credentials | undefined {
  if (useTls !== true || !isObject(serverCreds)) return undefined;
  const { cert, key } = serverCreds;
  return { cert: Buffer.from(String(cert), 'base64'), key: Buffer.from(String(key), 'base64') };
}

function hostFor(schema: SuiteSchema, messageBytesMax: number, tls: Credentials | undefined): HttpHost {
  return createHttpHost({
    handler: {
      admit: admitted,
      isServing: () => true,
      respond: async (request) => ({ status: statusOf(schema, request), headers: {}, body: null }),
    },
    limits: { ...DEFAULT_SERVER_LIMITS, connectionsMax: 1000, bodyBytesMax: messageBytesMax || DEFAULT_SERVER_LIMITS.bodyBytesMax },
    log: SILENT,
    metrics: createMetrics(),
    grpc: true,
    grpcServices: suiteServices(schema),
    tls,
  });
}

/** The answer to requests that are no calls. A node answers them in its routes. */
function statusOf({ service }: SuiteSchema, { path, method }: HttpRequest): number {
  const isKnown = service.methods.some(({ name }) => path === `/${service.typeName}/${name}`);
  if (!isKnown) return 404;
  return method === 'POST' ? 415 : 405;
}

/** Everyone may call everything: the access checks have tests of their own. */
function admitted(httpRequest: AdmittedCall['httpRequest']): AdmittedCall {
  return {
    httpRequest,
    caller: { principal: LOCAL_PRINCIPAL },
    env: DEFAULT_ENV,
    onError: () => undefined,
    headers: {},
    target: () => {
      throw new Error('there is no agent');
    },
    track: () => undefined,
    recording: undefined,
    callerKey: undefined,
    ended: () => undefined,
  };
}
