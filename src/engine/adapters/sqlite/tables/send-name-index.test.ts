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

/** 48 bits from all over, as hashes are; few, so that they come again. */
const HASH = fc.nat(7).map(spread);
const CHANGE = fc.record({
  kind: fc.constantFrom('insert', 'remove', 'look'),
  name: fc.record({ hash: HASH, n: fc.integer({ min: 1, max: 3 }) }),
});
const STEP = fc.record({
  changes: fc.array(CHANGE, { maxLength: 6 }),
  isCommitted: fc.boolean(),
  isLast: fc.boolean(), // the next step is another start
});

it('finds what the table has, whatever is put in, taken out, rolled back and reopened, and however much it has learned', () => {
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
      // The first looks are at a table that it has only begun to learn.
      for (const hash of seen) expect(index.of(hash)).toEqual(held(hash));
      db.close();
    }),
    { numRuns: 300 },
  );
});

it('asks the table for nothing that it knows not to be there', () => {
  const db = table();
  const known = createSendNameIndex(db, PORTION);
  for (let at = 1; at <= 1000; at += 1) known.insert({ hash: spread(at), n: at });
  const again = createSendNameIndex(db, PORTION);
  const learn = (index: SendNameIndex): void => {
    for (let at = 0; at <= 1000 / PORTION; at += 1) index.of(spread(1));
  };
  for (const index of [known, again]) {
    learn(index);
    // Behind its back, so that it is seen who answers.
    for (let at = 2001; at <= 3000; at += 1) db.prepare('INSERT OR IGNORE INTO name VALUES (?, ?)').run(spread(at), at);
    const asked = Array.from({ length: 1000 }, (_, at) => index.of(spread(at + 2001)).length).filter((found) => found > 0);
    expect(asked.length).toBeLessThan(5);
    for (let at = 1; at <= 1000; at += 1) expect(index.of(spread(at))).toEqual([at]);
    db.exec('DELETE FROM name WHERE n > 2000');
  }
  db.close();
});
