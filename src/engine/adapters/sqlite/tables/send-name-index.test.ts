import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SendNameIndex } from './send-name-index.ts';
import { createSendNameIndex } from './send-name-index.ts';

const PORTION = 2;

const spread = (at: number): number => (at * 2_654_435_761_007) % 2 ** 48;

function table(): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  db.exec('CREATE TABLE name (hash INTEGER, n INTEGER, PRIMARY KEY (hash, n)) WITHOUT ROWID');
  return db;
}

/** Values across 48 bits, as hashes are. Few values, so that they repeat. */
const HASH = fc.nat(7).map(spread);
const CHANGE = fc.record({
  kind: fc.constantFrom('insert', 'remove', 'look'),
  name: fc.record({ hash: HASH, n: fc.integer({ min: 1, max: 3 }) }),
});
const STEP = fc.record({
  changes: fc.array(CHANGE, { maxLength: 6 }),
  isCommitted: fc.boolean(),
  isLast: fc.boolean(), // the index is reopened after this step
});

it('finds what the table has, after any inserts, removals, rollbacks and restarts, however much of it the filter holds', () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 40 }), (steps) => {
      const db = table();
      const held = (hash: number): readonly unknown[] =>
        db
          .prepare('SELECT n FROM name WHERE hash = ?')
          .all(hash)
          .map((row) => row['n']);
      let index = createSendNameIndex(db, PORTION);
      const seen = new Set<number>();
      for (const { changes, isCommitted, isLast } of steps) {
        db.exec('BEGIN');
        for (const { kind, name } of changes) {
          seen.add(name.hash);
          if (kind === 'insert') index.insert(name);
          else if (kind === 'remove') index.remove(name);
          else expect(index.of(name.hash)).toEqual(held(name.hash));
        }
        db.exec(isCommitted ? 'COMMIT' : 'ROLLBACK');
        if (isLast) index = createSendNameIndex(db, PORTION);
      }
      // The first lookups run while the filter holds only part of the table.
      for (const hash of seen) expect(index.of(hash)).toEqual(held(hash));
      db.close();
    }),
    { numRuns: 300 },
  );
});

it('does not query the table for names that the filter excludes', () => {
  const db = table();
  const known = createSendNameIndex(db, PORTION);
  for (let at = 1; at <= 1000; at += 1) known.insert({ hash: spread(at), n: at });
  const again = createSendNameIndex(db, PORTION);
  const learn = (index: SendNameIndex): void => {
    for (let at = 0; at <= 1000 / PORTION; at += 1) index.of(spread(1));
  };
  for (const index of [known, again]) {
    learn(index);
    // Inserted without the index, so that a query of the table would show.
    for (let at = 2001; at <= 3000; at += 1) db.prepare('INSERT OR IGNORE INTO name VALUES (?, ?)').run(spread(at), at);
    const asked = Array.from({ length: 1000 }, (_, at) => index.of(spread(at + 2001)).length).filter((found) => found > 0);
    expect(asked.length).toBeLessThan(5);
    for (let at = 1; at <= 1000; at += 1) expect(index.of(spread(at))).toEqual([at]);
    db.exec('DELETE FROM name WHERE n > 2000');
  }
  db.close();
});
