import { createHash } from 'node:crypto';
import type { Owner, TaskScope } from '../../ports.ts';
import { StoreError } from '../shared/store-error.ts';
import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import type { SchemaName } from './schema.ts';
import { fromText, toText } from './text.ts';

/** One owner with one agent. Tasks refer to it by number. Only `drop` deletes a realm, between two commits. */
export interface PostgresRealm {
  readonly realm: number;
  readonly owner: Owner;
  readonly agent: string;
}

/** Finds realms, most of the time in memory. */
export interface PostgresRealms {
  find(owner: Owner, agent: string): Promise<number | undefined>;
  /** Creates those that are missing, before the commit that uses them. One that is left over is harmless. */
  obtain(names: Iterable<RealmName>): Promise<void>;
  /** The number of a realm that `obtain` has found. */
  known(owner: Owner, agent: string): number;
  byNumber(numbers: Iterable<number>): Promise<ReadonlyMap<number, PostgresRealm>>;
  /** Deletes realms without tasks and names. Must not run beside a commit. */
  drop(numbers: readonly number[]): Promise<void>;
  /** Another process may have deleted realms: each is looked up again before it is used. */
  reset(): void;
  /** The realms of a scope, for lists. */
  within(scope: TaskScope, agent: string | undefined): Promise<readonly number[]>;
}

export interface RealmName {
  readonly owner: Owner;
  readonly agent: string;
}

interface Stored {
  readonly realm: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
}

const COLUMNS = 'realm, tenant, principal, agent';
const CACHED_MAX = 10_000;

export function createPostgresRealms(database: PostgresDatabase, s: SchemaName): PostgresRealms {
  const sql = statements(s);
  // By name: a digest costs more than the rest of a look.
  const byName = new Map<string, { readonly realm: number; readonly at: number }>();
  const byNumber = new Map<number, PostgresRealm>();
  let resets = 0;
  const keep = (stored: Stored): PostgresRealm => {
    if (byNumber.size >= CACHED_MAX) {
      byName.clear();
      byNumber.clear();
    }
    const owner = { tenant: fromText(stored.tenant), principal: fromText(stored.principal) };
    const realm = { realm: stored.realm, owner, agent: fromText(stored.agent) };
    byName.set(nameOf(owner, realm.agent), { realm: realm.realm, at: resets });
    byNumber.set(realm.realm, realm);
    return realm;
  };
  const find = async (owner: Owner, agent: string): Promise<number | undefined> => {
    const known = byName.get(nameOf(owner, agent));
    if (known?.at === resets) return known.realm;
    const [stored] = await reading(() => database.read<Stored>(sql.byDigest, [digestOf(owner, agent)]));
    return stored === undefined ? undefined : keep(stored).realm;
  };
  return {
    find,
    obtain: async (names) => {
      for (const { owner, agent } of names) {
        if (byName.get(nameOf(owner, agent))?.at === resets || (await find(owner, agent)) !== undefined) continue;
        const values = [digestOf(owner, agent), toText(owner.tenant), toText(owner.principal), toText(agent)];
        await reading(() => database.read(sql.insert, values));
        if ((await find(owner, agent)) === undefined) throw new StoreError('failed', 'a realm was not stored');
      }
    },
    known: (owner, agent) => {
      const known = byName.get(nameOf(owner, agent));
      if (known === undefined) throw new Error('the realm was not obtained');
      return known.realm;
    },
    byNumber: async (numbers) => {
      const found = new Map<number, PostgresRealm>();
      const missing: number[] = [];
      for (const number of new Set(numbers)) {
        const known = byNumber.get(number);
        if (known === undefined) missing.push(number);
        else found.set(number, known);
      }
      const stored = missing.length === 0 ? [] : await reading(() => database.read<Stored>(sql.byNumbers, [JSON.stringify(missing)]));
      for (const each of stored) found.set(each.realm, keep(each));
      return found;
    },
    drop: async (numbers) => {
      for (const number of numbers) {
        const known = byNumber.get(number);
        if (known !== undefined) byName.delete(nameOf(known.owner, known.agent));
        byNumber.delete(number);
      }
      await reading(() => database.read(sql.drop, [JSON.stringify(numbers)]));
    },
    reset: () => {
      resets += 1;
    },
    within: async (scope, agent) => {
      if (scope !== 'any' && scope.principal !== undefined && agent !== undefined) {
        const realm = await find(scope, agent);
        return realm === undefined ? [] : [realm];
      }
      return (await reading(() => database.read<Stored>(sql.within, scopeValues(scope, agent)))).map((each) => keep(each).realm);
    },
  };
}

/** Tenant, principal and agent for a statement. Null: any. */
export function scopeValues(scope: TaskScope, agent?: string): readonly (string | null)[] {
  const tenant = scope === 'any' ? null : toText(scope.tenant);
  const principal = scope === 'any' || scope.principal === undefined ? null : toText(scope.principal);
  return [tenant, principal, agent === undefined ? null : toText(agent)];
}

function statements(s: SchemaName): Readonly<Record<'byDigest' | 'byNumbers' | 'drop' | 'insert' | 'within', Sql>> {
  return {
    byDigest: { name: 'realm', text: `SELECT ${COLUMNS} FROM ${s}.realms WHERE digest = $1` },
    byNumbers: {
      name: 'realms',
      text: `SELECT ${COLUMNS} FROM ${s}.realms WHERE realm IN (SELECT v::int FROM json_array_elements_text($1::json) AS v)`,
    },
    drop: {
      name: 'realm-drop',
      text: `WITH gone AS (DELETE FROM ${s}.realms r WHERE realm IN (SELECT v::int FROM json_array_elements_text($1::json) AS v)
        AND NOT EXISTS (SELECT 1 FROM ${s}.tasks k WHERE k.realm = r.realm) AND NOT EXISTS (SELECT 1 FROM ${s}.names n WHERE n.realm = r.realm)
        RETURNING realm) UPDATE ${s}.meta SET drops = drops + 1 WHERE EXISTS (SELECT 1 FROM gone)`,
    },
    insert: {
      name: 'realm-insert',
      text: `INSERT INTO ${s}.realms (digest, tenant, principal, agent) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    },
    within: {
      name: 'realms-within',
      text: `SELECT ${COLUMNS} FROM ${s}.realms WHERE ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR principal = $2)
        AND ($3::text IS NULL OR agent = $3)`,
    },
  };
}

function nameOf({ tenant, principal }: Owner, agent: string): string {
  return JSON.stringify([tenant, principal, agent]);
}

function digestOf(owner: Owner, agent: string): string {
  return createHash('sha256').update(nameOf(owner, agent)).digest('base64url');
}
