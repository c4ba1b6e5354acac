/** `starting`: recovery runs. `cut off`: the lease of the store is lost. `closed`: no new turn starts. `off`: readers are disconnected too. */
export type EnginePhase = 'new' | 'starting' | 'open' | 'cut off' | 'closed' | 'off';

/** Where the engine stands between start and stop. Only `engine.ts`, `turns/lost-lease.ts` and `turns/drain.ts` change it. */
export interface EngineLifecycle {
  phase: EnginePhase;
}
