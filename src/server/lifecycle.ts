import type { HttpResponse } from '#bindings';
import type { Engine } from '#engine';
import type { Mutable } from '#protocol';
import type { ServedAgent } from './agents/served-agent.ts';
import type { Audit } from './audit/audit.ts';
import type { ServerLimits } from './limits.ts';
import type { Log } from './observability/log.ts';
import type { Tracing } from './observability/tracing.ts';
import { loadOtel, recorderOf, traced } from './observability/tracing.ts';
import type { HandlerOptions } from './options.ts';
import { refusal, retryAfter } from './routes/responses.ts';
import type { Route } from './routes/routes.ts';

/** `open` once requests are served, `leaving` while they are still served before a shutdown, `draining` during shutdown. */
export type NodePhase = 'starting' | 'open' | 'leaving' | 'draining';

/** The start and shutdown of a node. */
export interface NodeLifecycle {
  readonly ready: Promise<void>;
  /** The same promise as `ready` until it resolves, then undefined. */
  readonly starting: Promise<void> | undefined;
  phase(): NodePhase;
  /** A 503 response during shutdown. Public routes are still served. */
  refuseWhileStopping(route: Route): HttpResponse | undefined;
  /** Adds tracing to an agent, if tracing is on. */
  trace(agent: Mutable<ServedAgent>): void;
  /** Says at `/readyz` that the node shuts down soon. Requests are still served. */
  leave(): void;
  /** Refuses new requests from now on. */
  refuseRequests(): void;
  /** Stops the engine and closes the store and the audit log. */
  stop(): Promise<void>;
}

/** What the lifecycle needs of the node. */
export interface LifecycleOptions {
  readonly options: HandlerOptions;
  readonly engine: Engine | undefined;
  readonly agents: readonly Mutable<ServedAgent>[];
  readonly log: Log;
  readonly limits: ServerLimits;
  readonly audit: Audit;
  readonly tracing: Tracing;
}

/**
 * The part of the shutdown time that is reserved for the last responses and for closing the store,
 * after runs were stopped.
 */
const CLOSING_MS = 2000;

/** Starts the engine: recovers the tasks of the last process, then accepts requests. */
export function startLifecycle({ options, engine, agents, log, limits, tracing, audit }: LifecycleOptions): NodeLifecycle {
  let phase: NodePhase = 'starting';
  const trace = (agent: Mutable<ServedAgent>): void => {
    if (tracing.recorder !== undefined) agent.service = traced(agent.service, agent.name, tracing.recorder);
  };
  const began = performance.now();
  let isListening = false;
  const start = async (): Promise<void> => {
    log.info('the node starts', { version: options.version, agents: agents.map(({ name }) => name) });
    const otel = options.otel === false ? undefined : (options.otel ?? (await loadOtel()));
    tracing.recorder = otel === undefined ? undefined : recorderOf(otel);
    for (const agent of agents) trace(agent);
    const recovered = await engine?.start();
    if (recovered !== undefined && Object.values(recovered).some((count) => count > 0)) {
      log.info('recovered the tasks of the previous process', { ...recovered });
    }
    isListening = options.listen !== undefined;
    const url = await options.listen?.();
    if (phase === 'starting') phase = 'open';
    log.info('the node is ready', { url, ms: Math.round(performance.now() - began), ...recovered });
  };
  const ready = start();
  let starting: Promise<void> | undefined = ready;
  ready.then(
    () => {
      starting = undefined;
    },
    (thrown: unknown) => {
      // The host has thrown this error of its port itself, and tells its own caller.
      if (!isListening) log.error('the node could not start', thrown);
    },
  );
  return {
    ready,
    get starting() {
      return starting;
    },
    phase: () => phase,
    trace,
    refuseWhileStopping: (route) => {
      if (phase !== 'draining' || route.access === 'public') return undefined;
      return refusal(503, 'this node is shutting down; try again', retryAfter(limits.reconnectMs));
    },
    leave: () => {
      if (phase === 'open') phase = 'leaving';
      // Other nodes on the same database begin to take what nobody uses here.
      options.store?.cells?.stopTaking();
      log.info('the node drains soon: it still serves, and /readyz says draining');
    },
    refuseRequests: () => {
      const hasServed = phase !== 'starting';
      phase = 'draining';
      if (!hasServed) return;
      const { running = 0, queued = 0, asking = 0 } = engine?.stats() ?? {};
      log.info('the node drains: it refuses new requests and finishes its work', { running, queued, asking });
    },
    stop: async () => {
      await ready.catch(() => undefined); // a node that did not start has nothing to stop
      await engine?.stop({ ms: Math.max(0, limits.drainMsMax - CLOSING_MS) });
      await options.store?.close();
      await audit.close();
      log.info('the node has stopped');
    },
  };
}
