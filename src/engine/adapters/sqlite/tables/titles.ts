import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { contextId } from '#protocol';
import type { ConversationName, ConversationOwner, TaskScope } from '../../../ports.ts';
import { command, query } from '../database/statement.ts';
import { fromText, toText } from '../database/text.ts';

/** The names of conversations. */
export interface Titles {
  of(conversations: readonly ConversationOwner[]): readonly ConversationName[];
  within(scope: TaskScope): readonly ConversationName[];
  /** Must be called in a transaction. */
  put(name: ConversationName): void;
}

interface Stored {
  readonly tenant: string;
  readonly principal: string;
  readonly context: string;
  readonly name: string;
  readonly sum: number;
}

/** A damaged name is left out: its conversation is shown by its first words again. */
export function createTitles(db: DatabaseSync): Titles {
  const one = query<Stored>(db, 'SELECT * FROM title WHERE tenant = ? AND principal = ? AND context = ?');
  const every = query<Stored>(db, 'SELECT * FROM title');
  const byTenant = query<Stored>(db, 'SELECT * FROM title WHERE tenant = ?');
  const byOwner = query<Stored>(db, 'SELECT * FROM title WHERE tenant = ? AND principal = ?');
  const put = command(db, 'INSERT OR REPLACE INTO title (tenant, principal, context, name, sum) VALUES (?, ?, ?, ?, ?)');
  const drop = command(db, 'DELETE FROM title WHERE tenant = ? AND principal = ? AND context = ?');
  const allIn = (scope: TaskScope): readonly Stored[] => {
    if (scope === 'any') return every.all();
    if (scope.principal === undefined) return byTenant.all(toText(scope.tenant));
    return byOwner.all(toText(scope.tenant), toText(scope.principal));
  };
  return {
    of: (conversations) => conversations.flatMap((each) => read(one.one(...keyOf(each)))),
    within: (scope) => allIn(scope).flatMap(read),
    put: (named) => {
      const [tenant, principal, context] = keyOf(named);
      const name = toText(named.name);
      if (name === '') drop(tenant, principal, context);
      else put(tenant, principal, context, name, sumOf({ tenant, principal, context, name }));
    },
  };
}

function keyOf({ owner, contextId: context }: ConversationOwner): [tenant: string, principal: string, context: string] {
  return [toText(owner.tenant), toText(owner.principal), toText(context)];
}

function read(stored: Stored | undefined): ConversationName[] {
  if (stored === undefined || stored.sum !== sumOf(stored)) return [];
  const { tenant, principal, context, name } = stored;
  const owner = { tenant: fromText(tenant), principal: fromText(principal) };
  return [{ owner, contextId: contextId(fromText(context)), name: fromText(name) }];
}

function sumOf({ tenant, principal, context, name }: Omit<Stored, 'sum'>): number {
  return crc32(JSON.stringify([tenant, principal, context, name]));
}
