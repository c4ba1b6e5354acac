import { STEPS } from '../../../src/engine/adapters/postgres/schema.ts';

/** Loaded before a real `parley serve`, it makes a next release of it, whose migration adds a column to every table, and an index. */
const TABLES = [
  ...['replicas', 'writers', 'cells', 'realms', 'tasks', 'segments', 'names', 'pushes', 'outbox', 'blobs', 'secrets', 'said', 'titles'],
  ...['agents', 'api_keys', 'usage', 'audit', 'audit_chains', 'audit_place', 'meta'],
];

(STEPS as (typeof STEPS)[number][]).push({
  needs: 1,
  sql: (s) => `
  ${TABLES.map((table) => `ALTER TABLE ${s}.${table} ADD COLUMN next integer NOT NULL DEFAULT 7;`).join('\n')}
  CREATE INDEX tasks_next ON ${s}.tasks (next, key);
  `,
});
