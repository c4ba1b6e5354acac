import { MIGRATIONS } from '../../src/engine/adapters/sqlite/database/schema.ts';

/** A future schema version: two columns, a new table, and every row changed. */
export const NEXT_MIGRATIONS: readonly string[] = [
  ...MIGRATIONS,
  `
  ALTER TABLE task ADD COLUMN one INTEGER;
  UPDATE task SET one = key;
  CREATE TABLE more (key INTEGER PRIMARY KEY, copy TEXT) STRICT;
  INSERT INTO more (key, copy) SELECT id, coalesce(words, chunks) FROM log;
  ALTER TABLE task ADD COLUMN two INTEGER;
  UPDATE task SET two = one + 1;
  `,
];
