import type { AdminMeshCall, Clock, Mutable } from '#protocol';
import type { ObservedCall } from '../grammars/grammar.ts';

/** Calls that are under way, and those that ended last. */
export interface Calls {
  take(heard: ObservedCall): void;
  /** The newest first. */
  all(): readonly AdminMeshCall[];
}

/** Whoever floods the topics fills no memory. */
const OPEN_MAX = 1000;
const ENDED_MAX = 30;
/** Nobody waits for an answer that long: it was lost, or went where we do not listen. */
const OPEN_MS_MAX = 3_600_000;

export function createCalls(clock: Clock): Calls {
  const open = new Map<string, Mutable<AdminMeshCall>>();
  const ended: AdminMeshCall[] = [];
  const forget = (now: number): void => {
    for (const [key, { since }] of open) {
      if (open.size <= OPEN_MAX && now - Date.parse(since) < OPEN_MS_MAX) return; // the first is the oldest
      open.delete(key);
    }
  };
  return {
    take: (heard) => {
      const key = `${heard.from} ${heard.task}`;
      const now = clock.now();
      if (heard.kind === 'asked') {
        const { kind: _, ...call } = heard;
        if (!open.has(key)) open.set(key, { ...call, since: now.toISOString() }); // repeats are the same call
        forget(now.getTime());
        return;
      }
      const call = open.get(key);
      if (call === undefined) return;
      open.delete(key);
      ended.unshift({ ...call, endedAt: now.toISOString(), ...(heard.state === undefined ? {} : { state: heard.state }) });
      ended.splice(ENDED_MAX);
    },
    all: () => {
      forget(clock.now().getTime());
      return [...[...open.values()].reverse(), ...ended];
    },
  };
}
