import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Owner, TaskScope } from '../../../ports.ts';
import { StoreError } from '../../shared/store-error.ts';
import { command, query } from '../database/statement.ts';
import { fromText, toText } from '../database/text.ts';

/** One owner with one agent. Tasks refer to it by number, which keeps their rows and indexes small. */
export interface Realm {
  readonly key: number;
  readonly owner: Owner;
  readonly agent: string;
}

/** All realms, cached in memory. */
export interface Realms {
  find(owner: Owner, agent: string): Realm | undefined;
  /** Finds or creates the realm. Must be called in a transaction. */
  obtain(owner: Owner, agent: string): Realm;
  byKey(key: number): Realm;
  /** Deletes a realm without tasks. Must be called in a transaction. */
  drop(realm: Realm): void;
  /** The realms of a scope, for lists. */
  within(scope: TaskScope, agent: string | undefined): readonly Realm[];
  /** Must be called at the end of a transaction: keeps or drops the realms that it created. */
  settle(isCommitted: boolean): void;
}

interface RealmRecord {
  readonly key: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly sum: number;
}

const CACHED_MAX = 10_000;

/** Caches up to 10,000 realms. The cache is emptied when it is full, which is rare and cheap. */
export function createRealms(db: DatabaseSync): Realms {
  const byName = query<RealmRecord>(db, 'SELECT * FROM realm WHERE tenant = ? AND principal = ? AND agent = ?');
  const byTenant = query<RealmRecord>(db, 'SELECT * FROM realm WHERE tenant = ?');
  const byOwner = query<RealmRecord>(db, 'SELECT * FROM realm WHERE tenant = ? AND principal = ?');
  const byAgent = query<RealmRecord>(db, 'SELECT * FROM realm WHERE agent = ?');
  const every = query<RealmRecord>(db, 'SELECT * FROM realm');
  const keyed = query<RealmRecord>(db, 'SELECT * FROM realm WHERE key = ?');
  const last = query<{ key: number | null }>(db, 'SELECT max(key) AS key FROM realm');
  const insert = command(db, 'INSERT INTO realm (key, tenant, principal, agent, sum) VALUES (?, ?, ?, ?, ?)');
  const remove = command(db, 'DELETE FROM realm WHERE key = ?');
  const names = new Map<string, Realm>();
  const keys = new Map<number, Realm>();
  // The last one that was found is mostly the one that is asked for next.
  let [fresh, latest]: [Realm[], Realm | undefined] = [[], undefined];
  const uncache = ({ key, owner, agent }: Realm): void => {
    names.delete(nameOf(owner, agent));
    keys.delete(key);
    latest = undefined;
  };
  const keep = (realm: Realm): Realm => {
    if (keys.size >= CACHED_MAX) for (const map of [names, keys]) map.clear();
    names.set(nameOf(realm.owner, realm.agent), realm);
    keys.set(realm.key, realm);
    return realm;
  };
  const stored = (owner: Owner, agent: string): Realm | undefined =>
    byName.all(toText(owner.tenant), toText(owner.principal), toText(agent)).map((record) => keep(read(record)))[0];
  const find = (owner: Owner, agent: string): Realm | undefined => {
    if (latest === undefined || !isOf(latest, owner, agent)) latest = names.get(nameOf(owner, agent)) ?? stored(owner, agent);
    return latest;
  };

  return {
    find,
    obtain: (owner, agent) => {
      const known = find(owner, agent);
      if (known !== undefined) return known;
      const key = (last.one()?.key ?? 0) + 1;
      const record = { key, tenant: toText(owner.tenant), principal: toText(owner.principal), agent: toText(agent) };
      insert(key, record.tenant, record.principal, record.agent, sumOf(record));
      const realm = keep({ key, owner: { tenant: owner.tenant, principal: owner.principal }, agent });
      fresh.push(realm);
      return realm;
    },
    byKey: (key) => {
      const known = keys.get(key);
      if (known !== undefined) return known;
      const record = keyed.one(key);
      if (record !== undefined) return keep(read(record));
      throw new StoreError('damaged', `realm ${key} is missing`);
    },
    drop: (realm) => {
      remove(realm.key);
      uncache(realm); // after a rollback it is read again
    },
    within: (scope, agent) => {
      if (scope === 'any') return (agent === undefined ? every.all() : byAgent.all(toText(agent))).map(read);
      if (scope.principal === undefined) {
        const realms = byTenant.all(toText(scope.tenant)).map(read);
        return agent === undefined ? realms : realms.filter((realm) => realm.agent === agent);
      }
      if (agent === undefined) return byOwner.all(toText(scope.tenant), toText(scope.principal)).map(read);
      return [find(scope, agent)].filter((realm) => realm !== undefined);
    },
    settle: (isCommitted) => {
      if (!isCommitted) fresh.forEach(uncache);
      fresh = [];
    },
  };
}

function read(record: RealmRecord): Realm {
  if (record.sum !== sumOf(record)) throw new StoreError('damaged', `the checksum of realm ${record.key} is wrong`);
  const { key, tenant, principal, agent } = record;
  return { key, owner: { tenant: fromText(tenant), principal: fromText(principal) }, agent: fromText(agent) };
}

/** A text may be null in a damaged row. */
function sumOf({ key, tenant, principal, agent }: Omit<RealmRecord, 'sum'>): number {
  return crc32(`${key} ${String(tenant).length} ${tenant} ${String(principal).length} ${principal} ${agent}`);
}

function isOf(realm: Realm, { tenant, principal }: Owner, agent: string): boolean {
  return realm.agent === agent && realm.owner.principal === principal && realm.owner.tenant === tenant;
}

function nameOf({ tenant, principal }: Owner, agent: string): string {
  return `${tenant.length} ${tenant}${principal.length} ${principal}${agent}`;
}
