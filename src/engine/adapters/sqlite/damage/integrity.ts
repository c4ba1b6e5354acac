import type { DatabaseSync } from 'node:sqlite';

const PROBLEMS_MAX = 20;

/**
 * Counts sends that are missing from the table `name`, which is an index that SQLite does not check.
 */
const LOST_NAMES = `
  SELECT count(*) AS lost FROM send
  WHERE n <= (SELECT named FROM meta) AND NOT EXISTS (SELECT 1 FROM name WHERE name.hash = send.name AND name.n = send.n)`;

/**
 * Checks trees and indexes with SQLite's full check and ours. Returns the problems found. Reads the
 * whole file.
 */
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
