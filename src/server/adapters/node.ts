import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLoopback } from '../guard.ts';
import type { Handler } from '../handler.ts';
import { createHandler } from '../handler.ts';
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../limits.ts';
import { createLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import type { ServingOptions } from '../options.ts';
import type { PolicyOptions } from '../outbound/policy.ts';
import type { AgentLike } from '../served.ts';
import type { Host } from './node-listen.ts';
import { createHost, exchange } from './node-listen.ts';
import { connectionsRoom, takePulse } from './node-pulse.ts';
import { createOutbound } from './outbound.ts';

export interface ServeOptions extends ServingOptions, PolicyOptions {
  /** 0 picks a free one. */
  readonly port?: number;
  /** Default 127.0.0.1. Anything that others can reach needs a `gate`. */
  readonly host?: string;
}

export interface Served {
  /** Where it listens; where clients reach it may be elsewhere (`url` of the options). */
  readonly url: string;
  readonly port: number;
  readonly handler: Handler;
  /** Drains, within `drainMsMax`, and resolves when everything is kept and closed. */
  close(): Promise<void>;
}

export const DEFAULT_PORT = 41_242;
export const DEFAULT_HOST = '127.0.0.1';

/** Serves agents on Node. The first is the root agent; every one is also at `/agents/{name}/`. */
export async function serve(agents: AgentLike | readonly AgentLike[], options: ServeOptions = {}): Promise<Served> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT } = options;
  if (options.gate === undefined && !isLoopback(host)) {
    throw new Error(
      `${host} can be reached by others, and without a gate whoever reaches it may call. Serve on 127.0.0.1, or give a gate.`,
    );
  }
  const log = options.log ?? createLog({ write: (line) => process.stderr.write(line) });
  const metrics = options.metrics ?? createMetrics();
  const limits = nodeLimits(options);
  const pulse = takePulse(metrics);
  const outbound = options.outbound ?? createOutbound(options);
  if (options.allowLoopbackTargets === true) log.warn('requests may go to this machine itself: for development only');
  const listening: { url?: string } = {};
  const handler = createHandler({
    ...options,
    agents,
    outbound,
    log,
    metrics,
    limits: { ...options.limits, ...limits },
    allowedHosts: [...(options.allowedHosts ?? []), ...namesOf(host)],
    isPressed: () => (options.isPressed?.() ?? false) || pulse.isPressed(),
  });
  const nodeHost = createHost({ handler, limits, log, metrics });
  try {
    await handler.ready;
    listening.url = await listen(nodeHost, { host, port, log });
  } catch (thrown) {
    pulse.stop();
    await handler.close();
    await outbound.close();
    throw thrown;
  }
  const { url } = listening;
  return {
    url,
    port: Number(new URL(url).port),
    handler,
    close: once(async () => {
      await drain(nodeHost, handler, limits);
      if (options.outbound === undefined) await outbound.close();
      pulse.stop();
    }),
  };
}

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

interface Listening {
  readonly host: string;
  readonly port: number;
  readonly log: NonNullable<ServingOptions['log']>;
}

async function listen({ server }: Host, { host, port, log }: Listening): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // From here on an error is a connection that could not be taken (no more files): the others go on.
  server.on('error', (thrown) => log.error('a connection could not be taken', thrown));
  const { address, family, port: taken } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
}

/** E16: takes nothing more, ends the streams with a word on when to come back, lets answers go out, and is gone in time. */
async function drain({ server, busy, stopKeeping }: Host, handler: Handler, { drainMsMax }: ServerLimits): Promise<void> {
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
