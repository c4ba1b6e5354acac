/** What is counted for each caller: how many it has now. */
export type HeldKind = 'tasks' | 'streams';
/** What is taken from the caller's rate: how many since the start of the node. */
export type TakenKind = 'requests' | 'bytes';

/**
 * What callers use on all nodes of a database, for limits that hold for all nodes together. Callers are named by `callerKey`. What other
 * nodes have is known with a delay.
 */
export interface CallerCounts {
  /** This node has so many of the caller now. */
  hold(kind: HeldKind, caller: string, count: number): void;
  /** How many other nodes have of the caller. */
  elsewhere(kind: HeldKind, caller: string): number;
  /** The caller has taken so much from its rate on this node. */
  take(kind: TakenKind, caller: string, amount: number): void;
  /** `onTaken` is called with what the caller has taken on other nodes. */
  follow(onTaken: (kind: TakenKind, caller: string, amount: number) => void): void;
}

/** What a node tells the others. */
interface NodeCounts {
  readonly held: Readonly<Record<HeldKind, Counts>>;
  readonly taken: Readonly<Record<TakenKind, Counts>>;
}
type Counts = Readonly<Record<string, number>>;

/** Counts of one node, and what it knows of the others. */
export interface ExchangedCounts extends CallerCounts {
  /** What this node tells the others. `now`: milliseconds of a monotonic clock. */
  tell(now: number): string;
  /** What the others have told, by the name of each. Nodes that are missing have ended. */
  hear(others: ReadonlyMap<string, string>): void;
}

const HELD: readonly HeldKind[] = ['tasks', 'streams'];
const TAKEN: readonly TakenKind[] = ['requests', 'bytes'];
/** A caller that has taken nothing for this long is forgotten, and counted from 0 again. */
const QUIET_MS = 60_000;

interface Taken {
  sum: number;
  told: number;
  changedAt: number;
}

interface HeardNode {
  readonly text: string;
  readonly counts: NodeCounts;
}

function sumInto(sums: Map<string, number>, kind: HeldKind, nodes: Iterable<HeardNode>): void {
  sums.clear();
  for (const { counts } of nodes) {
    for (const [caller, count] of Object.entries(counts.held[kind])) sums.set(caller, (sums.get(caller) ?? 0) + count);
  }
}

export function createCallerCounts(): ExchangedCounts {
  const held = { tasks: new Map<string, number>(), streams: new Map<string, number>() };
  const taken = { requests: new Map<string, Taken>(), bytes: new Map<string, Taken>() };
  const elsewhere = { tasks: new Map<string, number>(), streams: new Map<string, number>() };
  let listeners: ((kind: TakenKind, caller: string, amount: number) => void)[] = [];
  let known = new Map<string, HeardNode>();

  const charge = (kind: TakenKind, before: Counts, after: Counts): void => {
    for (const [caller, sum] of Object.entries(after)) {
      // A lower number was counted from 0 again.
      const last = before[caller] ?? 0;
      const amount = sum >= last ? sum - last : sum;
      if (amount > 0) for (const listener of listeners) listener(kind, caller, amount);
    }
  };
  /** What a node has told before this one knew it is in the past. */
  const heard = (before: HeardNode | undefined, text: string): HeardNode => {
    if (before?.text === text) return before;
    const counts = JSON.parse(text) as NodeCounts;
    if (before !== undefined) for (const kind of TAKEN) charge(kind, before.counts.taken[kind], counts.taken[kind]);
    return { text, counts };
  };
  return {
    hold: (kind, caller, count) => void (count > 0 ? held[kind].set(caller, count) : held[kind].delete(caller)),
    elsewhere: (kind, caller) => elsewhere[kind].get(caller) ?? 0,
    take: (kind, caller, amount) => {
      const one = taken[kind].get(caller);
      if (one === undefined) taken[kind].set(caller, { sum: amount, told: 0, changedAt: 0 });
      else one.sum += amount;
    },
    follow: (onTaken) => {
      listeners = [...listeners, onTaken];
    },
    tell: (now) => {
      for (const kind of TAKEN) {
        for (const [caller, one] of taken[kind]) {
          if (one.sum !== one.told) [one.told, one.changedAt] = [one.sum, now];
          else if (now - one.changedAt > QUIET_MS) taken[kind].delete(caller);
        }
      }
      const sums = (kind: TakenKind): Counts => Object.fromEntries([...taken[kind]].map(([caller, { sum }]) => [caller, sum]));
      const counts: NodeCounts = {
        held: { tasks: Object.fromEntries(held.tasks), streams: Object.fromEntries(held.streams) },
        taken: { requests: sums('requests'), bytes: sums('bytes') },
      };
      return JSON.stringify(counts);
    },
    hear: (others) => {
      const next: typeof known = new Map();
      for (const [node, text] of others) next.set(node, heard(known.get(node), text));
      known = next;
      for (const kind of HELD) sumInto(elsewhere[kind], kind, known.values());
    },
  };
}
