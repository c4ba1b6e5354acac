import type { DatabaseSync } from 'node:sqlite';

const PROBLEMS_MAX = 20;

/** SendNames that are not where they lead to; `name` is an index that SQLite does not know as one. */
const LOST_NAMES = `
  SELECT count(*) AS lost FROM send
  WHERE n <= (SELECT named FROM meta) AND NOT EXISTS (SELECT 1 FROM name WHERE name.hash = send.name AND name.n = send.n)`;

/** What is wrong with the trees and indexes of the file: SQLite's own full check, and ours. Empty: nothing. Reads the whole file. */
export function structureProblems(db: DatabaseSync): readonly string[] {
  try {
    const lines = db
      .prepare(`PRAGMA integrity_check(${PROBLEMS_MAX})`)
      .all()
      .map((row) => String(Object.values(row)[0]));
    if (lines.length !== 1 || lines[0] !== 'ok') return lines;
    const lost = Number(db.prepare(LOST_NAMES).get()?.['lost']);
    return lost === 0 ? [] : [`${lost} sends can't be found by their names`];
  } catch (thrown) {
    return [thrown instanceof Error ? thrown.message : String(thrown)];
  }
}
