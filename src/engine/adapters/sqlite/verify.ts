import type { DatabaseSync } from 'node:sqlite';

const PROBLEMS_MAX = 20;

/** What is wrong with the trees and indexes of the file: SQLite's own full check. Empty: nothing. Reads the whole file. */
export function structureProblems(db: DatabaseSync): readonly string[] {
  try {
    const lines = db
      .prepare(`PRAGMA integrity_check(${PROBLEMS_MAX})`)
      .all()
      .map((row) => String(Object.values(row)[0]));
    return lines.length === 1 && lines[0] === 'ok' ? [] : lines;
  } catch (thrown) {
    return [thrown instanceof Error ? thrown.message : String(thrown)];
  }
}
