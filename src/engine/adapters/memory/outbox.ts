import type { OutboxEntry, OutboxQuery, OutboxRow, TaskKey, TaskRow } from '../../ports.ts';

/** The queue of deliveries in memory, by number. */
export interface MemoryOutbox {
  put(row: OutboxRow): void;
  drop(n: number): void;
  dropAll(isGone: (row: OutboxRow) => boolean): void;
  list(query: OutboxQuery, taskOf: (key: TaskKey) => TaskRow | undefined): readonly OutboxEntry[];
  stats(): { readonly last: number; readonly dead: number };
}

/** The queues of deliveries in memory. */
export function memoryOutbox(): MemoryOutbox {
  const rows = new Map<number, OutboxRow>();
  return {
    put: (row) => void rows.set(row.n, { ...row }),
    drop: (n) => void rows.delete(n),
    dropAll: (isGone) => {
      for (const row of rows.values()) if (isGone(row)) rows.delete(row.n);
    },
    list: ({ state, n, after = 0, limit }, taskOf) => {
      const found: OutboxEntry[] = [];
      // The map is ordered by number: numbers only grow, and a changed row keeps its position.
      for (const row of n === undefined ? rows.values() : [rows.get(n)]) {
        const task = row === undefined ? undefined : taskOf(row.task);
        if (row === undefined || task === undefined || row.n <= after || (state ?? row.state) !== row.state) continue;
        if (found.length < limit) found.push({ row, task });
      }
      return found;
    },
    stats: () => {
      let [last, dead] = [0, 0];
      for (const row of rows.values()) {
        if (row.n > last) last = row.n;
        if (row.state === 'dead') dead += 1;
      }
      return { last, dead };
    },
  };
}
