import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { exposureProblem } from '../access/exposure.ts';
import { isLoopback } from '../access/host-origin.ts';
import type { UnsentLimits } from '../access/limits/unsent-budget.ts';
import { createUnsentBudget } from '../access/limits/unsent-budget.ts';
import type { AgentLike } from '../agents/served-agent.ts';
import type { Handler } from '../handler.ts';
import { createHandler } from '../handler.ts';
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../limits.ts';
import type { Log } from '../observability/log.ts';
import { createLog } from '../observability/log.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { ServingOptions } from '../options.ts';
import type { PolicyOptions } from '../outbound/policy.ts';
import type { Outbound } from '../outbound/port.ts';
import { RELAY_LIMITS } from '../routes/console-relay.ts';
import { listen, urlOf } from './node/bind.ts';
import { missingGrpcPackages } from './node/grpc-drivers.ts';
import type { Forward } from './node/grpc-port.ts';
import type { HttpHost, HttpHostOptions } from './node/http-server.ts';
import { createHttpHost, handleRequest } from './node/http-server.ts';
import { connectionsRoom, heapMax, openFilesLimit, watchProcess } from './node/process-stats.ts';
import type { TlsOptions } from './node/tls.ts';
import { proxiesOf, replaceTls } from './node/tls.ts';
import { createOutbound } from './outbound.ts';
import { packageVersion } from './package-version.ts';

/** Options of `serve`. */
export interface ServeOptions extends ServingOptions, PolicyOptions {
  /** Default 41242. 0 picks a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. An address that other machines can reach requires `auth` or `authenticate`, and `tls` or `insecureBehindProxy`. */
  readonly host?: string;
  /** A Unix socket instead of host and port. Only its owner can open it. */
  readonly socket?: string;
  /** Certificate and key for https. Default: http. */
  readonly tls?: TlsOptions;
  /** A proxy in front has TLS, and callers can't bypass it. Default false. */
  readonly insecureBehindProxy?: boolean;
  /** Addresses or networks of proxies whose `X-Forwarded-For` header is trusted. */
  readonly trustedProxies?: readonly string[];
  /** Limits the connections of loopback addresses too. Default: false. */
  readonly limitLoopback?: boolean;
  /** Gets the requests that belong to another node on the same database. */
  readonly elsewhere?: Forward;
}

/** A running node. */
export interface NodeServer {
  /** Where it listens, as `http://127.0.0.1:41242` or `unix:/run/parley.sock`; where clients reach it may be elsewhere (`url` of the options). */
  readonly url: string;
  /** 0 for a Unix socket. */
  readonly port: number;
  /** The handler, for adding and removing agents. */
  readonly handler: Handler;
  /**
   * Gives new connections another certificate; open ones stay. Throws if the certificate does not fit its key, or if the node has no TLS.
   */
  replaceTls(tls: TlsOptions): void;
  /** Shuts down within `drainMsMax`. Resolves when all connections and the store are closed. */
  close(): Promise<void>;
}

/** Port of `parley serve` and of `serve`. */
export const DEFAULT_PORT = 41_242;
/** Loopback, so that a node is not reachable from other machines by default. */
export const DEFAULT_HOST = '127.0.0.1';

/**
 * Serves agents on Node's HTTP server. The first agent is at the root; every agent is also at `/agents/{name}/`.
 *
 * ```ts
 * const server = await serve(defineAgent({ name: 'shout', description: 'Repeats in capitals.', run: (turn) => turn.text.toUpperCase() }));
 * console.log(server.url);
 * await server.close();
 * ```
 */
export async function serve(agents: AgentLike | readonly AgentLike[], options: ServeOptions = {}): Promise<NodeServer> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT } = options;
  const problem = exposureProblem({
    host,
    isSocket: options.socket !== undefined,
    hasAuth: options.authenticate !== undefined || options.auth !== undefined,
    hasTls: options.tls !== undefined || options.insecureBehindProxy === true,
  });
  if (problem !== undefined) throw new Error(`${problem}.`);
  const log = options.log ?? createLog({ write: (line) => process.stderr.write(line) });
  const metrics = options.metrics ?? createMetrics();
  const limits = nodeLimits(options);
  const outbound = options.outbound ?? createOutbound(options);
  const pulse = watchProcess(metrics);
  const { isOverloaded: overloaded } = options;
  const relay = options.relay === undefined && isPrivate(options) ? relayOf(options) : undefined;
  if (options.allowLoopbackTargets === true) log.warn('outbound requests may go to this machine; use this for development only');
  const grpc = hasGrpc(options, log);
  const handler = createHandler({
    ...options,
    agents,
    outbound,
    log,
    metrics,
    limits: { ...options.limits, ...limits },
    version: options.version ?? packageVersion(),
    // The address of a Unix socket is not a host and a port.
    grpc: grpc && options.socket === undefined,
    allowedHosts: [...(options.allowedHosts ?? []), ...namesOf(host)],
    ...(relay === undefined ? {} : { relay: relay.fetchWithin(RELAY_LIMITS) }),
    listen: () => listen(nodeHost, { host, port, log, socket: options.socket }),
    isOverloaded: overloaded === undefined ? pulse.isOverloaded : () => overloaded() || pulse.isOverloaded(),
  });
  const nodeHost = createHttpHost({ handler, limits, log, metrics, grpc, ...hostOptions(options) });
  try {
    await handler.ready;
  } catch (thrown) {
    pulse.stop();
    await handler.close();
    await outbound.close();
    await relay?.close();
    throw thrown;
  }
  const url = urlOf(nodeHost, options.socket);
  sayConnections(log, options, limits);
  const sampling = setInterval(handler.sample, SAMPLE_MS);
  sampling.unref();
  return {
    url,
    port: options.socket === undefined ? Number(new URL(url).port) : 0,
    handler,
    replaceTls: (next) => replaceTls(nodeHost.server, next),
    close: once(async () => {
      await drain(nodeHost, handler, limits);
      if (options.outbound === undefined) await outbound.close();
      await relay?.close();
      clearInterval(sampling);
      pulse.stop();
    }),
  };
}

function hostOptions({
  tls,
  trustedProxies = [],
  limitLoopback,
  elsewhere,
}: ServeOptions): Pick<HttpHostOptions, 'tls' | 'trusted' | 'limitLoopback' | 'elsewhere'> {
  return { tls, trusted: proxiesOf(trustedProxies), limitLoopback, elsewhere };
}

/** gRPC needs packages that are optional. Without them the node serves everything else. */
function hasGrpc({ grpc = true }: ServeOptions, log: Log): boolean {
  const missing = grpc ? missingGrpcPackages() : [];
  if (missing.length > 0) log.info(`gRPC is off: npm install ${missing.join(' ')} turns it on`);
  return grpc && missing.length === 0;
}

/** On a node that only this machine reaches, the console may call agents on this machine. */
function relayOf(options: ServeOptions): Outbound {
  return createOutbound({ ...options, allowLoopbackTargets: true });
}

function isPrivate({ host = DEFAULT_HOST, socket, insecureBehindProxy }: ServeOptions): boolean {
  return insecureBehindProxy !== true && (socket !== undefined || isLoopback(host));
}

const SAMPLE_MS = 5000;

/**
 * The handler as a request listener of Node's servers, for an Express app or your own server. Set limits and timeouts on that server.
 *
 * ```ts
 * http.createServer(nodeListener(createHandler({ agents: [echo] }))).listen(8080);
 * ```
 */
export function nodeListener(handler: Handler): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const budget = createUnsentBudget(unsentLimits(DEFAULT_SERVER_LIMITS));
  return (incoming, outgoing) => {
    handleRequest(incoming, outgoing, { handler, limits: DEFAULT_SERVER_LIMITS, budget }).catch(() => outgoing.destroy());
  };
}

function nodeLimits({ limits }: ServeOptions): ServerLimits {
  const all: ServerLimits = { ...DEFAULT_SERVER_LIMITS, ...limits };
  const connectionsMax = all.connectionsMax > 0 ? all.connectionsMax : connectionsRoom();
  const streamsMax = all.streamsMax > 0 ? all.streamsMax : Math.max(1, Math.floor(connectionsMax * 0.9));
  const addressConnectionsMax = all.addressConnectionsMax > 0 ? all.addressConnectionsMax : Math.max(1, Math.floor(connectionsMax / 4));
  const reservedConnections = Math.min(all.reservedConnections, Math.floor(connectionsMax / 10));
  return { ...all, connectionsMax, streamsMax, addressConnectionsMax, reservedConnections, ...unsentLimits(all) };
}

/** With fewer connections than this, a busy node runs out of them. Many systems allow 1,024 open files by default. */
const FEW_CONNECTIONS = 4000;

/** Logs how many connections the node takes, and why. Only other machines make many, so a node on loopback logs it at the level `debug`. */
function sayConnections(log: Log, options: ServeOptions, limits: ServerLimits): void {
  const { connectionsMax, addressConnectionsMax, reservedConnections } = limits;
  const openFilesMax = openFilesLimit();
  const fields = { openFilesMax, connectionsMax, addressConnectionsMax, reservedConnections };
  const isLow = openFilesMax !== undefined && openFilesMax < FEW_CONNECTIONS;
  if (isPrivate(options)) log.debug('connections that this node takes', fields);
  else if (isLow) log.warn('the limit of open files allows few connections; raise it with ulimit -n', fields);
  else log.info('connections that this node takes', fields);
}

function unsentLimits({ unsentConnectionBytesMax, unsentCallerBytesMax, unsentBytesMax }: ServerLimits): UnsentLimits {
  const all = unsentBytesMax > 0 ? unsentBytesMax : Math.floor(heapMax() / 4);
  return {
    unsentConnectionBytesMax,
    unsentCallerBytesMax: unsentCallerBytesMax > 0 ? unsentCallerBytesMax : Math.floor(all / 2),
    unsentBytesMax: all,
  };
}

/** Accepted Host names: the bind address, or every interface address when bound to 0.0.0.0 or ::. */
function namesOf(host: string): readonly string[] {
  if (host !== '0.0.0.0' && host !== '::') return [host.includes(':') ? `[${host}]` : host];
  const addresses = Object.values(networkInterfaces()).flatMap((cards) => cards ?? []);
  return addresses.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));
}

/** Shuts down (docs/faults.md, E16): refuses new requests, ends streams with a reconnect time, finishes open responses, closes at the deadline. */
async function drain(
  { server, busy, stopKeeping, closeIdle, closeAll }: HttpHost,
  handler: Handler,
  { drainMsMax }: ServerLimits,
): Promise<void> {
  const deadline = performance.now() + drainMsMax;
  stopKeeping();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  closeIdle();
  await handler.close();
  while (busy() > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  closeIdle();
  const late = setTimeout(closeAll, Math.min(500, Math.max(0, deadline - performance.now())));
  await closed;
  clearTimeout(late);
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run();
    return running;
  };
}
