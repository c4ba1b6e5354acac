import type { Agent, Dialect, DialectId } from '#protocol';
import { createRegistry, DIALECTS, LET_GO, randomIds, systemClock } from '#protocol';
import { createWriter } from './commit/group-commit.ts';
import { DEFAULT_ENGINE_LIMITS } from './limits.ts';
import type { EngineOptions } from './options.ts';
import { progressOf } from './outbox/lane.ts';
import { createOutbox } from './outbox/outbox.ts';
import type { Outbox } from './outbox/webhooks.ts';
import type { TaskKey } from './ports.ts';
import { endReservations } from './send/idempotency.ts';
import type { Core } from './tasks/core.ts';
import { dropIfIdle } from './tasks/core.ts';
import type { Live, Unsaved } from './tasks/live-task.ts';
import { wakeAll } from './tasks/live-task.ts';
import { systemTimers } from './timers.ts';
import { createStamps } from './timestamps.ts';
import { createContexts } from './turns/conversations.ts';
import { createQuotas } from './turns/quotas.ts';
import { createSlots } from './turns/slots.ts';
import { letGo } from './turns/stop.ts';

interface Assembled {
  readonly core: Core;
  readonly counts: { events: number; forgotten: number };
  /** Keys are minted above the highest that the store has seen. */
  readonly startKeys: (last: number) => void;
  readonly addAgent: (name: string, agent: Agent) => void;
}

/** The parts of an engine, put together. */
export function assemble(options: EngineOptions): Assembled {
  const { store, clock = systemClock, timers = systemTimers, report = () => {}, onCommitted } = options;
  const limits = { ...DEFAULT_ENGINE_LIMITS, ...options.limits };
  const counts = { events: 0, forgotten: 0 };
  const known = knownDialects();
  const agents = new Map(Object.entries(options.agents));
  let lastKey = 0;
  const tell = (live: Live, saved: Unsaved): void => {
    try {
      onCommitted?.(live.row, saved.entries);
    } catch (thrown) {
      report('whoever follows the logs has failed', thrown);
    }
  };
  const onPublished = (live: Live, saved: Unsaved): void => {
    counts.events += saved.entries.length;
    endReservations(core, saved.reserved);
    if (saved.hasDirect) core.leaving.delete(live.row.id);
    if (!live.isGone) {
      noteWebhooks(core.outbox, live, saved);
      if (saved.entries.length > 0) tell(live, saved);
    }
    dropIfIdle(core, live);
  };
  const onBroken = (cause: unknown): void => {
    report('the store has failed', cause);
    for (const [run, live] of core.runs) if (live.run === run) letGo(core, live, LET_GO);
    for (const live of core.lives.values()) wakeAll(live);
    options.onBroken?.(cause);
  };
  const core: Core = {
    store,
    blobs: options.blobs,
    writer: createWriter({ store, limits, timers, onPublished, onBroken }),
    clock,
    timers,
    ids: options.ids ?? randomIds,
    limits,
    agents,
    aroundRun: options.aroundRun,
    traitsOf: options.traitsOf ?? ((dialect) => known(dialect).traits),
    webhookOf: (dialect) => known(dialect).webhook,
    outbox: createOutbox({ courier: options.courier, carrier: options.carrier, vault: options.vault, coreOf: () => core }),
    slots: createSlots(limits.runningTasksMax, limits.queuedTasksMax),
    quotas: createQuotas(options.runningTasksMaxOf),
    contexts: createContexts({ clock, openMax: limits.openContextsMax, msMax: limits.openContextMsMax, report }),
    lives: new Map(),
    aliases: new Map(),
    loading: new Map(),
    leaving: new Set(),
    runs: new Map(),
    reservations: new Map(),
    delivered: new Set(),
    secret: options.secret ?? crypto.getRandomValues(new Uint8Array(32)),
    idempotency: options.idempotency ?? 'key',
    now: createStamps(clock),
    ticks: () => clock.ticks?.() ?? clock.now().getTime(),
    report,
    nextKey: () => {
      lastKey += 1;
      return lastKey as TaskKey;
    },
    phase: 'new',
  };
  const startKeys = (last: number): void => {
    lastKey = last;
  };
  return { core, counts, startKeys, addAgent: (name, agent) => void agents.set(name, agent) };
}

/** What is durable now may be for webhooks: a new one, or events for those that are there. */
function noteWebhooks(outbox: Outbox, live: Live, saved: Unsaved): void {
  const { row, committed } = live;
  for (const write of saved.beside) if (write.kind === 'outbox') outbox.opened(write.row, row, progressOf(row, committed));
  if (saved.entries.length > 0 && outbox.watches(row.key)) outbox.committed(row.key, progressOf(row, committed));
}

/** A dialect that nobody knows behaves as the first one, A2A 1.0. */
function knownDialects(): (dialect: DialectId) => Dialect {
  const registry = createRegistry(DIALECTS);
  const [first] = DIALECTS;
  return (dialect) => {
    const known = registry.byId(dialect) ?? first;
    if (known === undefined) throw new Error('there is no dialect at all');
    return known;
  };
}
