import type { A2AService, AdminService, Agent, Clock, DialectId, Ids, Traits } from '#protocol';
import { A2AError } from '#protocol';
import { createAdmin } from './admin.ts';
import { assemble } from './assemble.ts';
import { drain } from './drain.ts';
import type { EngineLimits } from './limits.ts';
import type { Blobs, Entry, Store, TaskRow } from './ports.ts';
import type { Recovered } from './recovery.ts';
import { recover } from './recovery.ts';
import type { ExtendedCard } from './service.ts';
import { createService } from './service.ts';
import { keepSweeping } from './sweeper.ts';
import type { Timers } from './timers.ts';

export interface EngineOptions {
  readonly store: Store;
  /** By the name under which their tasks are kept: a name that is gone leaves its tasks orphaned. */
  readonly agents: Readonly<Record<string, Agent>>;
  /** Absent: large content stays in the log. */
  readonly blobs?: Blobs;
  readonly limits?: Partial<EngineLimits>;
  /** `messageId`: a repeated message id always attaches to the first task. Default `key`: as docs/engine.md says. */
  readonly idempotency?: 'key' | 'messageId';
  /** Signs page tokens; at least 32 bytes. Default: made anew, so that tokens end with the process. */
  readonly secret?: Uint8Array<ArrayBuffer>;
  readonly extendedCard?: ExtendedCard;
  readonly traitsOf?: (dialect: DialectId) => Traits;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly timers?: Timers;
  /** What went wrong inside, for the log. */
  readonly report?: (what: string, cause: unknown) => void;
  /** The store has failed for good: nothing more can be kept, and the process had better end. */
  readonly onBroken?: (cause: unknown) => void;
  /** These entries are durable: a wake-up for whoever follows logs, as webhooks do. It must not throw. */
  readonly onCommitted?: (row: TaskRow, entries: readonly Entry[]) => void;
}

export interface Engine {
  /** Throws for a name that the engine was not given. */
  serviceOf(agent: string): A2AService;
  readonly admin: AdminService;
  /** Recovers what the last process left, and opens the door. */
  start(): Promise<Recovered>;
  /**
   * Starts nothing more, gives what runs this long to end, and then stops it: what can be repeated, and what waits for its caller, is
   * left for the next start; the rest fails. When it returns all that is known is on disk. The store is its owner's to close.
   */
  stop(options?: { readonly ms?: number }): Promise<void>;
  stats(): EngineStats;
}

export interface EngineStats {
  readonly running: number;
  readonly queued: number;
  /** Runs in which somebody is asked something. */
  readonly asking: number;
  readonly liveTasks: number;
  readonly openContexts: number;
  readonly commits: number;
  readonly events: number;
  readonly forgottenTasks: number;
  readonly isBroken: boolean;
}

export function createEngine(options: EngineOptions): Engine {
  const { core, counts, startKeys } = assemble(options);
  const services = new Map(Object.keys(options.agents).map((name) => [name, createService(core, name, options.extendedCard)]));
  let halt: () => void = () => {};
  return {
    serviceOf: (agent) => {
      const service = services.get(agent);
      if (service === undefined) throw new A2AError('INVALID_PARAMS', `there is no agent ${agent}`);
      return service;
    },
    admin: createAdmin(core),
    start: async () => {
      if (core.phase !== 'new') throw new Error('an engine is started once');
      startKeys(await core.store.lastKey());
      core.phase = 'starting';
      const recovered = await recover(core);
      core.phase = 'open';
      halt = keepSweeping(core, (forgotten) => {
        counts.forgotten += forgotten;
      });
      return recovered;
    },
    stop: async ({ ms = 10_000 } = {}) => {
      halt();
      await drain(core, ms);
    },
    stats: () => ({
      running: core.slots.running,
      queued: core.slots.queued,
      asking: [...core.runs.keys()].filter((run) => run.answer !== undefined).length,
      liveTasks: core.lives.size,
      openContexts: core.contexts.size,
      commits: core.writer.commits,
      events: counts.events,
      forgottenTasks: counts.forgotten,
      isBroken: core.writer.broken !== undefined,
    }),
  };
}
