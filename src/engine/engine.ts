import type { A2AService, AdminService, Agent } from '#protocol';
import { A2AError } from '#protocol';
import { createAdmin } from './admin/admin.ts';
import { assemble } from './assemble.ts';
import type { EngineOptions } from './options.ts';
import type { OutboxStats } from './outbox/webhooks.ts';
import { createService } from './service.ts';
import { drain } from './turns/drain.ts';
import type { Recovered } from './turns/recovery.ts';
import { recover } from './turns/recovery.ts';
import { keepSweeping } from './turns/sweeper.ts';

export interface Engine {
  /** Throws for a name that the engine was not given. */
  serviceOf(agent: string): A2AService;
  /** Another agent from now on, or another one under the name: tasks of that name are its own. */
  add(name: string, agent: Agent): A2AService;
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
  readonly webhooks: OutboxStats;
  /** Answers on their way to where bindings want them. */
  readonly carrying: number;
}

export function createEngine(options: EngineOptions): Engine {
  const { core, counts, startKeys, addAgent } = assemble(options);
  const services = new Map(Object.keys(options.agents).map((name) => [name, createService(core, name, options.extendedCard)]));
  let halt: () => void = () => {};
  return {
    serviceOf: (agent) => {
      const service = services.get(agent);
      if (service === undefined) throw new A2AError('INVALID_PARAMS', `there is no agent ${agent}`);
      return service;
    },
    add: (name, agent) => {
      addAgent(name, agent);
      const service = createService(core, name, options.extendedCard);
      services.set(name, service);
      return service;
    },
    admin: createAdmin(core),
    start: async () => {
      if (core.phase !== 'new') throw new Error('an engine is started once');
      startKeys(await core.store.lastKey());
      core.phase = 'starting';
      await core.outbox.start();
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
      carrying: core.outbox.carrying,
      // Counted when somebody asks for it: there may be many queues.
      get webhooks() {
        return core.outbox.stats();
      },
    }),
  };
}
