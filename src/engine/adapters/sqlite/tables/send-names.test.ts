import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NamedSend } from './send-name-index.ts';
import type { SendNames } from './send-names.ts';
import { createSendNames } from './send-names.ts';

const GENERATION = 8;

/** The columns of the table of sends that names need, and the index. */
function world() {
  const db = new DatabaseSync(':memory:');
  db.exec(
    'CREATE TABLE send (n INTEGER PRIMARY KEY, hash INTEGER); CREATE TABLE name (hash INTEGER, n INTEGER, PRIMARY KEY (hash, n)) WITHOUT ROWID',
  );
  const indexed = (): number => Number(db.prepare('SELECT count(*) AS n FROM name').get()?.['n']);
  let named = 0;
  const open = (): SendNames => {
    const recent = db.prepare('SELECT n, hash FROM send WHERE n > ?').all(named) as unknown as NamedSend[];
    return createSendNames(db, { named, recent }, GENERATION);
  };
  const transact = (names: SendNames, work: () => void, isCommitted: boolean): void => {
    db.exec('BEGIN');
    work();
    const next = names.flush();
    db.exec(isCommitted ? 'COMMIT' : 'ROLLBACK');
    names.settle(isCommitted);
    if (isCommitted) named = next;
  };
  return { db, open, transact, indexed };
}

describe('names', () => {
  it('move to the index in sorted portions, and are found in memory and in the index', () => {
    const { db, open, transact, indexed } = world();
    const names = open();
    for (let n = 1; n <= 100; n += 1) {
      transact(
        names,
        () => {
          db.prepare('INSERT INTO send VALUES (?, ?)').run(n, (n * 7919) % 1009);
          names.add({ hash: (n * 7919) % 1009, n });
        },
        true,
      );
      // The newest generation, and the one that is being moved.
      expect(indexed()).toBeGreaterThanOrEqual(n - 2 * GENERATION);
    }
    for (let n = 1; n <= 100; n += 1) expect(names.find((n * 7919) % 1009, (found) => (found === n ? found : undefined))).toBe(n);
    expect(names.find(1008.5, () => true)).toBeUndefined();
  });

  const STEP = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), what: fc.array(fc.nat(12), { maxLength: 5 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop' as const), what: fc.array(fc.nat(), { maxLength: 3 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('look' as const), what: fc.array(fc.nat(12), { maxLength: 5 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), what: fc.constant([]) }) },
  );

  it('lead to exactly their sends, after any additions, drops, rollbacks and restarts', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(STEP, fc.nat(9)), { maxLength: 120 }), (steps) => {
        const { db, open, transact } = world();
        let names = open();
        let sends = new Map<number, number>();
        let last = 0;
        for (const [{ kind, what }, luck] of steps) {
          if (kind === 'restart') names = open();
          const next = new Map(sends);
          const add = (hash: number): void => {
            last += 1;
            next.set(last, hash);
            db.prepare('INSERT INTO send VALUES (?, ?)').run(last, hash);
            names.add({ hash, n: last });
          };
          const drop = (which: number): void => {
            const [n, hash] = [...next][which % Math.max(1, next.size)] ?? [];
            if (n === undefined || hash === undefined) return;
            next.delete(n);
            db.prepare('DELETE FROM send WHERE n = ?').run(n);
            names.drop({ hash, n });
          };
          const look = (hash: number): void => {
            names.find(hash, () => undefined);
            for (const [n, at] of next) if (at === hash) expect(names.find(hash, (found) => (found === n ? n : undefined))).toBe(n);
          };
          const steps = { add, drop, look, restart: () => {} };
          transact(names, () => what.forEach(steps[kind]), luck > 1);
          if (luck > 1) sends = next;
        }
        for (const [n, hash] of sends) expect(names.find(hash, (found) => (found === n ? n : undefined))).toBe(n);
        db.close();
      }),
      { numRuns: 300 },
    );
  });
});
