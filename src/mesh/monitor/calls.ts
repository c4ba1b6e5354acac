import type { AdminMeshCall, Clock, Mutable } from '#protocol';
import type { ObservedCall } from '../grammars/grammar.ts';

/** The calls that are running, and those that ended last. */
export interface CallLog {
  record(observed: ObservedCall): void;
  /** The newest first. */
  all(): readonly AdminMeshCall[];
}

/** A limit for memory: anyone who may publish can send any number of requests. */
const OPEN_MAX = 1000;
const ENDED_MAX = 30;
/** After this time the response was lost, or went to a topic that this connection does not see. */
const OPEN_MS_MAX = 3_600_000;

/** An empty log. It holds at most 1,000 running calls and the last 30 that ended. */
export function createCallLog(clock: Clock): CallLog {
  const open = new Map<string, Mutable<AdminMeshCall>>();
  const ended: AdminMeshCall[] = [];
  const forgetOld = (now: number): void => {
    for (const [key, { since }] of open) {
      if (open.size <= OPEN_MAX && now - Date.parse(since) < OPEN_MS_MAX) return; // the first entry is the oldest
      open.delete(key);
    }
  };
  return {
    record: (observed) => {
      const key = `${observed.from} ${observed.task}`;
      const now = clock.now();
      if (observed.kind === 'request') {
        const { kind: _, ...call } = observed;
        if (!open.has(key)) open.set(key, { ...call, since: now.toISOString() }); // a repeated request is the same call
        forgetOld(now.getTime());
        return;
      }
      const call = open.get(key);
      if (call === undefined) return;
      open.delete(key);
      ended.unshift({ ...call, endedAt: now.toISOString(), ...(observed.state === undefined ? {} : { state: observed.state }) });
      ended.splice(ENDED_MAX);
    },
    all: () => {
      forgetOld(clock.now().getTime());
      return [...[...open.values()].reverse(), ...ended];
    },
  };
}
