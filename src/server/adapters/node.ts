import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { exposureProblem } from '../access/exposure.ts';
import { isLoopback } from '../access/host-origin.ts';
import type { AgentLike } from '../agents/served-agent.ts';
import type { Handler } from '../handler.ts';
import { createHandler } from '../handler.ts';
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../limits.ts';
import { createLog } from '../observability/log.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { ServingOptions } from '../options.ts';
import type { PolicyOptions } from '../outbound/policy.ts';
import type { Outbound } from '../outbound/port.ts';
import { RELAY_LIMITS } from '../routes/console-relay.ts';
import { listen } from './node/bind.ts';
import type { HttpHost } from './node/http-server.ts';
import { createHttpHost, exchange } from './node/http-server.ts';
import { connectionsRoom, watchProcess } from './node/process-stats.ts';
import type { TlsOptions } from './node/tls.ts';
import { proxiesOf } from './node/tls.ts';
import { createOutbound } from './outbound.ts';

export interface ServeOptions extends ServingOptions, PolicyOptions {
  /** 0 picks a free one. */
  readonly port?: number;
  /** Default 127.0.0.1. Anything that others can reach needs `auth` or a `authenticate`, and `tls` or a proxy that has it. */
  readonly host?: string;
  /** A Unix socket in place of host and port, for its owner alone. */
  readonly socket?: string;
  readonly tls?: TlsOptions;
  /** A proxy in front speaks TLS with the callers, and nobody comes around it. */
  readonly insecureBehindProxy?: boolean;
  /** Addresses of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[];
}

export interface NodeServer {
  /** Where it listens, as `http://127.0.0.1:41242` or `unix:/run/parley.sock`; where clients reach it may be elsewhere (`url` of the options). */
  readonly url: string;
  /** 0 on a socket. */
  readonly port: number;
  readonly handler: Handler;
  /** Drains, within `drainMsMax`, and resolves when everything is kept and closed. */
  close(): Promise<void>;
}

export const DEFAULT_PORT = 41_242;
export const DEFAULT_HOST = '127.0.0.1';

/** Serves agents on Node. The first is the root agent; every one is also at `/agents/{name}/`. */
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
  const relay = options.relay === undefined && isPrivate(options) ? relayOf(options) : undefined;
  if (options.allowLoopbackTargets === true) log.warn('requests may go to this machine itself: for development only');
  const handler = createHandler({
    ...options,
    agents,
    outbound,
    log,
    metrics,
    limits: { ...options.limits, ...limits },
    version: options.version ?? packageVersion(),
    allowedHosts: [...(options.allowedHosts ?? []), ...namesOf(host)],
    ...(relay === undefined ? {} : { relay: relay.fetchWithin(RELAY_LIMITS) }),
    isOverloaded: () => (options.isOverloaded?.() ?? false) || pulse.isOverloaded(),
  });
  const nodeHost = createHttpHost({ handler, limits, log, metrics, tls: options.tls, trusted: proxiesOf(options.trustedProxies ?? []) });
  let url: string;
  try {
    await handler.ready;
    url = await listen(nodeHost, { host, port, log, socket: options.socket });
  } catch (thrown) {
    pulse.stop();
    await handler.close();
    await outbound.close();
    await relay?.close();
    throw thrown;
  }
  const sampling = setInterval(handler.sample, SAMPLE_MS);
  sampling.unref();
  return {
    url,
    port: options.socket === undefined ? Number(new URL(url).port) : 0,
    handler,
    close: once(async () => {
      await drain(nodeHost, handler, limits);
      if (options.outbound === undefined) await outbound.close();
      await relay?.close();
      clearInterval(sampling);
      pulse.stop();
    }),
  };
}

function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { readonly version?: string };
  return manifest.version ?? '';
}

/** Whoever operates a node that only this machine reaches may try agents of this machine with its console. */
function relayOf(options: ServeOptions): Outbound {
  return createOutbound({ ...options, allowLoopbackTargets: true });
}

function isPrivate({ host = DEFAULT_HOST, socket, insecureBehindProxy }: ServeOptions): boolean {
  return insecureBehindProxy !== true && (socket !== undefined || isLoopback(host));
}

const SAMPLE_MS = 5000;

/** The handler as Node's servers take one, for an Express app or a server of your own; its limits and timeouts are then yours to set. */
export function nodeListener(handler: Handler): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    exchange(incoming, outgoing, { handler, limits: DEFAULT_SERVER_LIMITS }).catch(() => outgoing.destroy());
  };
}

function nodeLimits({ limits }: ServeOptions): ServerLimits {
  const all: ServerLimits = { ...DEFAULT_SERVER_LIMITS, ...limits };
  const connectionsMax = all.connectionsMax > 0 ? all.connectionsMax : connectionsRoom();
  const streamsMax = all.streamsMax > 0 ? all.streamsMax : Math.max(1, Math.floor(connectionsMax * 0.9));
  return { ...all, connectionsMax, streamsMax };
}

/** Where it is bound is a name of ours; bound to every address, each of them is. */
function namesOf(host: string): readonly string[] {
  if (host !== '0.0.0.0' && host !== '::') return [host.includes(':') ? `[${host}]` : host];
  const addresses = Object.values(networkInterfaces()).flatMap((cards) => cards ?? []);
  return addresses.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));
}

/** E16: takes nothing more, ends the streams with a word on when to come back, lets answers go out, and is gone in time. */
async function drain({ server, busy, stopKeeping }: HttpHost, handler: Handler, { drainMsMax }: ServerLimits): Promise<void> {
  const deadline = performance.now() + drainMsMax;
  stopKeeping();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await handler.close();
  while (busy() > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), Math.min(500, Math.max(0, deadline - performance.now())));
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
