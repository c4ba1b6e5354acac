import type { A2AService, AdminService, Agent } from '#protocol';
import { A2AError } from '#protocol';
import { createAdmin } from './admin/admin.ts';
import { eraseHere } from './admin/erase.ts';
import { assemble } from './assemble.ts';
import { tellElsewhere } from './cells/tell-elsewhere.ts';
import type { EngineOptions } from './options.ts';
import type { WebhookStats } from './outbox/outbox.ts';
import { createService } from './service.ts';
import type { WaitingCount } from './tasks/waiting-tasks.ts';
import { drain } from './turns/drain.ts';
import type { FollowedCells } from './turns/follow-cells.ts';
import { followCells } from './turns/follow-cells.ts';
import { followLease } from './turns/lost-lease.ts';
import type { Recovered } from './turns/recovery.ts';
import { recover } from './turns/recovery.ts';
import { keepSweeping } from './turns/sweeper.ts';

/** Runs agents and keeps their tasks. Made by `createEngine`. */
export interface Engine {
  /** The operations of one agent. Throws for an unknown name. */
  serviceOf(agent: string): A2AService;
  /**
   * Adds an agent, or replaces the one with this name; the tasks under the name belong to the new one.
   */
  add(name: string, agent: Agent): A2AService;
  /** Tasks of all owners, for operators. */
  readonly admin: AdminService;
  /** The operators of one tenant see its tasks only. */
  adminOf(tenant: string): AdminService;
  /** Recovers the tasks of the last process and accepts requests from then on. To be called once. */
  start(): Promise<Recovered>;
  /**
   * Starts no new turn, gives current runs `ms` to finish, and then stops them. Runs that can be
   * repeated, or wait for their caller, are left for the next start; the others fail. Everything is on
   * disk when this resolves. The store stays open.
   */
  stop(options?: { readonly ms?: number }): Promise<void>;
  /** Figures for metrics and health checks. Cheap enough to be called every second. */
  stats(): EngineStats;
}

/** What the engine is doing right now, and counters since its start. */
export interface EngineStats {
  /** Turns that occupy a slot. */
  readonly running: number;
  /** Turns that wait for a slot. */
  readonly queued: number;
  /** Runs that wait for an answer in `turn.ask`. They are a part of the waiting tasks. */
  readonly asking: number;
  /** Tasks that wait for a person, by agent and by what they wait for. */
  readonly waiting: readonly WaitingCount[];
  /** Tasks in memory. */
  readonly liveTasks: number;
  /** Conversations that agents keep open. */
  readonly openContexts: number;
  /** Commits since the start. */
  readonly commits: number;
  /** Events appended since the start. */
  readonly events: number;
  /** Tasks deleted by retention. */
  readonly forgottenTasks: number;
  /** The store can't write for now, for example because the disk is full. */
  readonly isStalled: boolean;
  /** The store has failed for good. The process should end. */
  readonly isBroken: boolean;
  /** Figures about webhooks. */
  readonly webhooks: WebhookStats;
  /** Replies that are being published. */
  readonly publishing: number;
}

/**
 * Creates an engine over a store. Call `start` before the first request.
 *
 * ```ts
 * const engine = createEngine({ store: memoryStore(), agents: { echo } });
 * await engine.start();
 * ```
 */
export function createEngine(options: EngineOptions): Engine {
  const { service, admin, turns, cells, retention, outbox, lifecycle, counts, waiting, startKeys, addAgent } = assemble(options);
  const serviceFor = (name: string): A2AService => {
    const made = createService(service, name, options.extendedCard);
    return cells === undefined ? made : tellElsewhere(made, cells, name);
  };
  const services = new Map(Object.keys(options.agents).map((name) => [name, serviceFor(name)]));
  options.erasePeers?.follow((part) => eraseHere(admin, part));
  let stopSweeping: () => void = () => {};
  let followed: FollowedCells | undefined;
  return {
    serviceOf: (agent) => {
      const found = services.get(agent);
      if (found === undefined) throw new A2AError('INVALID_PARAMS', `there is no agent ${agent}`);
      return found;
    },
    add: (name, agent) => {
      addAgent(name, agent);
      const added = serviceFor(name);
      services.set(name, added);
      return added;
    },
    admin: createAdmin(admin),
    adminOf: (tenant) => createAdmin(admin, { tenant }),
    start: async () => {
      if (lifecycle.phase !== 'new') throw new Error('the engine was already started');
      await startKeys();
      lifecycle.phase = 'starting';
      const { lease, cells: all } = options.store;
      const checkLease = lease === undefined ? undefined : followLease(turns, lease);
      await outbox.start();
      if (all !== undefined && cells !== undefined) {
        all.serve(Object.keys(options.agents));
        followed = followCells(turns, all, cells);
      } else await outbox.load();
      const recovered = await (followed?.started ?? recover(turns));
      lifecycle.phase = 'open';
      checkLease?.();
      const onDeleted = (deleted: number): void => {
        counts.deleted += deleted;
      };
      stopSweeping = keepSweeping({ turns, retention, commits: service.commits, onDeleted, lookAgain: followed?.lookAgain });
      return recovered;
    },
    stop: async ({ ms = 10_000 } = {}) => {
      stopSweeping();
      await drain(turns, ms, followed);
    },
    stats: () => ({
      running: turns.slots.running,
      queued: turns.slots.queued,
      asking: [...turns.runs.keys()].filter((run) => run.answer !== undefined).length,
      waiting: waiting.counts(),
      liveTasks: service.tasks.size,
      openContexts: turns.conversations.size,
      commits: service.commits.count,
      events: counts.events,
      forgottenTasks: counts.deleted,
      isStalled: service.commits.isStalled,
      isBroken: service.commits.broken !== undefined,
      publishing: outbox.publishing,
      // A getter: there may be many queues to count.
      get webhooks() {
        return outbox.stats();
      },
    }),
  };
}
