import type { SwarmPriority } from './directive.ts';
import { SWARM_PRIORITIES } from './directive.ts';

/**
 * Limits how many directives run at once. The most urgent waits least; equal priorities run in order of
 * arrival.
 */
export interface PriorityQueue {
  /** Resolves with a function that ends the run. Rejects when the signal aborts first. */
  enter(priority: SwarmPriority, signal: AbortSignal): Promise<() => void>;
  readonly waiting: number;
}

/** A queue that lets `atOnce` directives run at the same time. */
export function createPriorityQueue(atOnce: number): PriorityQueue {
  const lines = new Map<SwarmPriority, Set<() => void>>(SWARM_PRIORITIES.toReversed().map((priority) => [priority, new Set()]));
  let running = 0;
  const leave = (): void => {
    running -= 1;
    for (const line of lines.values()) {
      const [next] = line;
      if (next === undefined) continue;
      next();
      return;
    }
  };
  const once = (): (() => void) => {
    let isOver = false;
    return () => {
      if (!isOver) leave();
      isOver = true;
    };
  };
  return {
    get waiting() {
      return [...lines.values()].reduce((sum, line) => sum + line.size, 0);
    },
    enter: async (priority, signal) => {
      signal.throwIfAborted();
      if (running >= atOnce) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const line = lines.get(priority);
        const go = (): void => {
          running += 1;
          line?.delete(go);
          signal.removeEventListener('abort', stop);
          resolve();
        };
        const stop = (): void => {
          line?.delete(go);
          reject(signal.reason);
        };
        line?.add(go);
        signal.addEventListener('abort', stop, { once: true });
        await promise;
      } else running += 1;
      return once();
    },
  };
}
