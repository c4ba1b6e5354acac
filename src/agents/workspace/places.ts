import { isInside } from './folders.ts';

/** Limits concurrent runs: a maximum in total, and one writer per folder. Others wait in order. */
export interface Places {
  /**
   * Resolves when the run may start, with a function that releases its slot. `onWait` gets the number
   * of runs ahead whenever it changes. Rejects when the signal fires.
   */
  take(wish: Wish): Promise<() => void>;
}

/** A run that wants to start. */
export interface Wish {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly onWait: (ahead: number) => void;
}

interface Waiting extends Wish {
  begin(): void;
  told: number;
}

/** A queue for runs. Two folders overlap if one contains the other. */
export function createPlaces(runningMax: number): Places {
  const running = new Set<Wish>();
  let waiting: Waiting[] = [];
  const mayBegin = (wish: Wish, before: readonly Wish[]): boolean =>
    running.size < runningMax && ![...running, ...before].some((other) => overlap(other.folder, wish.folder));
  /** Runs for the same folder keep their order. */
  const admit = (): void => {
    const left: Waiting[] = [];
    for (const each of waiting) {
      if (mayBegin(each, left)) {
        running.add(each);
        each.begin();
      } else left.push(each);
    }
    waiting = left;
    for (const [ahead, each] of waiting.entries()) {
      if (each.told === ahead) continue;
      each.told = ahead;
      each.onWait(ahead);
    }
  };
  return {
    take: (wish) =>
      new Promise((resolve, reject) => {
        if (wish.signal.aborted) {
          reject(wish.signal.reason);
          return;
        }
        const leave = (): void => {
          waiting = waiting.filter((each) => each !== entry);
          reject(wish.signal.reason);
          admit();
        };
        const entry: Waiting = {
          ...wish,
          told: -1,
          begin: () => {
            wish.signal.removeEventListener('abort', leave);
            resolve(() => {
              if (running.delete(entry)) admit();
            });
          },
        };
        wish.signal.addEventListener('abort', leave, { once: true });
        waiting.push(entry);
        admit();
      }),
  };
}

function overlap(one: string, other: string): boolean {
  return isInside(one, other) || isInside(other, one);
}
