import { createRegistry, DIALECTS, randomIds, systemClock } from '#protocol';
import { createContexts } from './contexts.ts';
import type { Core } from './core.ts';
import { dropIfIdle } from './core.ts';
import { DEFAULT_ENGINE_LIMITS } from './limits.ts';
import type { Live, Unsaved } from './live.ts';
import { wakeAll } from './live.ts';
import type { EngineOptions } from './options.ts';
import type { TaskKey } from './ports.ts';
import { createQuotas } from './quotas.ts';
import { endReservations } from './retries.ts';
import { createSlots } from './slots.ts';
import { createStamps } from './stamps.ts';
import { letGo } from './stopping.ts';
import { systemTimers } from './timers.ts';
import { createWriter } from './writer.ts';

interface Assembled {
  readonly core: Core;
  readonly counts: { events: number; forgotten: number };
  /** Keys are minted above the highest that the store has seen. */
  readonly startKeys: (last: number) => void;
}

/** The parts of an engine, put together. */
export function assemble(options: EngineOptions): Assembled {
  const { store, clock = systemClock, timers = systemTimers, report = () => {}, onCommitted } = options;
  const limits = { ...DEFAULT_ENGINE_LIMITS, ...options.limits };
  const counts = { events: 0, forgotten: 0 };
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
    if (saved.entries.length > 0 && !live.isGone) tell(live, saved);
    dropIfIdle(core, live);
  };
  const onBroken = (cause: unknown): void => {
    report('the store has failed', cause);
    for (const [run, live] of core.runs) if (live.run === run) letGo(core, live, 'The store has failed.');
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
    agents: new Map(Object.entries(options.agents)),
    aroundRun: options.aroundRun,
    traitsOf: options.traitsOf ?? knownTraits(),
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
  return { core, counts, startKeys };
}

/** A dialect that nobody knows behaves as the first one, A2A 1.0. */
function knownTraits(): Core['traitsOf'] {
  const registry = createRegistry(DIALECTS);
  const [first] = DIALECTS;
  return (dialect) => {
    const known = registry.byId(dialect) ?? first;
    if (known === undefined) throw new Error('there is no dialect at all');
    return known.traits;
  };
}
