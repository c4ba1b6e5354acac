/** `starting`: recovery runs. `closed`: no new turn starts. `off`: readers are disconnected too. */
export type EnginePhase = 'new' | 'starting' | 'open' | 'closed' | 'off';

/** Where the engine stands between start and stop. Only `engine.ts` and `turns/drain.ts` change it. */
export interface EngineLifecycle {
  phase: EnginePhase;
}
