import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openPostgresStore } from '../../../src/engine/adapters/postgres.ts';

const CONNECT_MS_MAX = 10_000;
const ANSWER_MS_MAX = 60_000;
const END_MS_MAX = 2000;

/** Runs one statement as the operator of the database, on a connection of its own. A server that does not answer makes it fail. */
export async function operate<R extends object>(url: string, text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS_MAX, query_timeout: ANSWER_MS_MAX });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<R>(text, [...values])).rows;
  } finally {
    await Promise.race([client.end(), sleep(END_MS_MAX, undefined, { ref: false })]).catch(() => {});
  }
}

/**
 * What the database itself records for the journal: when a writer row was opened and deleted, and which connection wrote a part of a log.
 * A takeover locks the writer row before it deletes it, so the order of the numbers is the order of what happened.
 */
const AUDIT = `
CREATE SCHEMA audit;
CREATE SEQUENCE audit.moment;
CREATE TABLE audit.writers (writer bigint PRIMARY KEY, replica bigint, pid int, opened bigint, deleted bigint);
CREATE TABLE audit.writes (moment bigint, pid int, task bigint, first int);
CREATE TABLE audit.replicas (replica bigint PRIMARY KEY, url text, lapsed boolean);
CREATE TABLE audit.links (direct text PRIMARY KEY, shown text);
CREATE FUNCTION audit.opened() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit.writers VALUES (NEW.writer, NEW.replica, pg_backend_pid(), nextval('audit.moment'));
  RETURN NULL; END $$;
CREATE FUNCTION audit.deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE audit.writers SET deleted = nextval('audit.moment') WHERE writer = OLD.writer;
  RETURN NULL; END $$;
CREATE FUNCTION audit.wrote() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit.writes VALUES (nextval('audit.moment'), pg_backend_pid(), NEW.task, NEW.first);
  RETURN NULL; END $$;
CREATE FUNCTION audit.buried() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit.replicas VALUES (OLD.replica, OLD.url, OLD.until < clock_timestamp()) ON CONFLICT DO NOTHING;
  RETURN NULL; END $$;
CREATE FUNCTION audit.shown() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.link := coalesce((SELECT shown FROM audit.links WHERE direct = NEW.link), NEW.link);
  RETURN NEW; END $$;
CREATE TRIGGER audit_opened AFTER INSERT ON parley.writers FOR EACH ROW EXECUTE FUNCTION audit.opened();
CREATE TRIGGER audit_deleted AFTER DELETE ON parley.writers FOR EACH ROW EXECUTE FUNCTION audit.deleted();
CREATE TRIGGER audit_wrote AFTER INSERT ON parley.segments FOR EACH ROW EXECUTE FUNCTION audit.wrote();
CREATE TRIGGER audit_buried AFTER DELETE ON parley.replicas FOR EACH ROW EXECUTE FUNCTION audit.buried();
CREATE TRIGGER audit_shown BEFORE INSERT ON parley.replicas FOR EACH ROW EXECUTE FUNCTION audit.shown();
`;

export interface AuditedOptions {
  readonly database: string;
  /** Makes the tables. Default: this checkout does. */
  readonly makeTables?: (database: string) => Promise<void>;
  /** Addresses that other nodes see in place of the real ones. */
  readonly links?: ReadonlyMap<string, string>;
}

const makeOurTables = async (url: string): Promise<void> => (await openPostgresStore(url)).close();

/** Creates a database with the tables of a store and the audit. */
export async function createAudited(server: string, options: AuditedOptions): Promise<string> {
  const { database, makeTables = makeOurTables, links = new Map() } = options;
  const url = server.replace(/postgres$/, database);
  await operate(server, `CREATE DATABASE ${database}`);
  await makeTables(url);
  await operate(url, AUDIT);
  for (const [direct, shown] of links) await operate(url, 'INSERT INTO audit.links VALUES ($1, $2)', [direct, shown]);
  return url;
}

interface Found {
  readonly what: string;
}

/** Each query returns what must not be there. */
const MUST_BE_EMPTY: Readonly<Record<string, string>> = {
  // A connection may open a second row after its first one was deleted.
  'ghost: a buried writer has written': `SELECT w.task || ' ' || w.first AS what FROM audit.writes w
    WHERE EXISTS (SELECT 1 FROM audit.writers o WHERE o.pid = w.pid AND o.deleted < w.moment)
      AND NOT EXISTS (SELECT 1 FROM audit.writers o WHERE o.pid = w.pid AND o.opened < w.moment AND (o.deleted IS NULL OR o.deleted > w.moment))`,
  'gap: a log is not 1, 2, 3 …': `SELECT t.id AS what FROM parley.tasks t LEFT JOIN parley.segments s ON s.task = t.key
    GROUP BY t.id, t.last HAVING coalesce(sum(s.last - s.first + 1), 0) <> t.last OR coalesce(max(s.last), 0) <> t.last OR min(s.first) <> 1`,
  'doubled: two tasks of one context of a job': `SELECT context AS what FROM parley.tasks WHERE context LIKE 'job-%'
    GROUP BY context HAVING count(*) > 1`,
  'doubled: two tasks of one task name': `SELECT alias AS what FROM parley.tasks WHERE alias IS NOT NULL GROUP BY realm, alias HAVING count(*) > 1`,
  'orphan: a name without its task': `SELECT n.name AS what FROM parley.names n
    WHERE n.task IS NOT NULL AND NOT EXISTS (SELECT 1 FROM parley.tasks k WHERE k.key = n.task)`,
};

/** What the database shows against the promises. */
export async function foundByAudit(url: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [rule, text] of Object.entries(MUST_BE_EMPTY)) {
    for (const { what } of await operate<Found>(url, text)) found.push(`${rule}: ${what}`);
  }
  return found;
}

/** How many nodes were buried, by the lease of the database or because they left. */
export async function burials(url: string): Promise<{ readonly lapsed: number; readonly left: number }> {
  const [row] = await operate<{ lapsed: number; left: number }>(
    url,
    `SELECT (count(*) FILTER (WHERE lapsed))::int AS lapsed, (count(*) FILTER (WHERE NOT lapsed))::int AS left FROM audit.replicas`,
  );
  return row ?? { lapsed: 0, left: 0 };
}
