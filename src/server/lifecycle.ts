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
import type { RouteContext } from './routes/route-handlers.ts';
import type { Route } from './routes/routes.ts';

/** How a node comes up and goes down. */
export interface Lifecycle {
  readonly ready: Promise<void>;
  /** Set until it is ready. */
  readonly starting: Promise<void> | undefined;
  phase(): ReturnType<RouteContext['phase']>;
  /** A refusal while the node stops. */
  turnedAway(route: Route): HttpResponse | undefined;
  /** For an agent that comes later: what was done to the others at the start. */
  adopt(agent: Mutable<ServedAgent>): void;
  stopTaking(): void;
  stop(): Promise<void>;
}

export interface LifecycleOptions {
  readonly options: HandlerOptions;
  readonly engine: Engine | undefined;
  readonly agents: readonly Mutable<ServedAgent>[];
  readonly log: Log;
  readonly limits: ServerLimits;
  readonly audit: Audit;
  readonly tracing: Tracing;
}

/** What is left of the time to stop when runs have had theirs: for answers to go out, and for the store to close. */
const CLOSING_MS = 2000;

export function startLifecycle({ options, engine, agents, log, limits, tracing, audit }: LifecycleOptions): Lifecycle {
  let phase: ReturnType<RouteContext['phase']> = 'starting';
  const adopt = (agent: Mutable<ServedAgent>): void => {
    if (tracing.recorder !== undefined) agent.service = traced(agent.service, agent.name, tracing.recorder);
  };
  const start = async (): Promise<void> => {
    const otel = options.otel === false ? undefined : (options.otel ?? (await loadOtel()));
    tracing.recorder = otel === undefined ? undefined : recorderOf(otel);
    for (const agent of agents) adopt(agent);
    const recovered = await engine?.start();
    if (recovered !== undefined && Object.values(recovered).some((count) => count > 0))
      log.info('tasks were taken up again', { ...recovered });
    if (phase === 'starting') phase = 'open';
  };
  const ready = start();
  let starting: Promise<void> | undefined = ready;
  ready.then(
    () => {
      starting = undefined;
    },
    (thrown: unknown) => log.error('the node could not start', thrown),
  );
  return {
    ready,
    get starting() {
      return starting;
    },
    phase: () => phase,
    adopt,
    turnedAway: (route) => {
      if (phase !== 'draining' || route.access === 'public') return undefined;
      return refusal(503, 'this node is stopping; try again', retryAfter(limits.reconnectMs));
    },
    stopTaking: () => {
      phase = 'draining';
    },
    stop: async () => {
      await ready.catch(() => undefined); // a node that did not start has nothing to stop
      await engine?.stop({ ms: Math.max(0, limits.drainMsMax - CLOSING_MS) });
      await options.store?.close();
      await audit.close();
    },
  };
}
