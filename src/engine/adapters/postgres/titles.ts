import { createHash } from 'node:crypto';
import { contextId } from '#protocol';
import type { ConversationName, ConversationNames, ConversationOwner } from '../../ports.ts';
import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import { scopeValues } from './realms.ts';
import type { SchemaName } from './schema.ts';
import { fromText, toText } from './text.ts';

interface Stored {
  readonly tenant: string;
  readonly principal: string;
  readonly context: string;
  readonly name: string;
}

/** The names of conversations. Any replica may write them: they belong to no cell. */
export function createPostgresTitles(database: PostgresDatabase, s: SchemaName): ConversationNames {
  const sql = statements(s);
  const read = async (statement: Sql, values: readonly unknown[]): Promise<readonly ConversationName[]> =>
    (await reading(() => database.read<Stored>(statement, values))).map(nameOf);
  return {
    of: async (conversations) => (conversations.length === 0 ? [] : await read(sql.of, [JSON.stringify(conversations.map(digestOf))])),
    within: (scope) => read(sql.within, scopeValues(scope).slice(0, 2)),
    put: async (named) => {
      const { owner, contextId: context, name } = named;
      const values = [digestOf(named), toText(owner.tenant), toText(owner.principal), toText(context), toText(name)];
      await reading(() => (name === '' ? database.read(sql.drop, values.slice(0, 1)) : database.read(sql.put, values)));
    },
  };
}

function statements(s: SchemaName): Readonly<Record<'of' | 'within' | 'put' | 'drop', Sql>> {
  const columns = `SELECT tenant, principal, context, name FROM ${s}.titles`;
  return {
    of: { name: 'titles', text: `${columns} WHERE digest IN (SELECT v FROM json_array_elements_text($1::json) AS v)` },
    within: { name: 'titles-within', text: `${columns} WHERE ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR principal = $2)` },
    put: {
      name: 'title-put',
      text: `INSERT INTO ${s}.titles (digest, tenant, principal, context, name) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (digest) DO UPDATE SET name = EXCLUDED.name`,
    },
    drop: { name: 'title-drop', text: `DELETE FROM ${s}.titles WHERE digest = $1` },
  };
}

function nameOf({ tenant, principal, context, name }: Stored): ConversationName {
  return {
    owner: { tenant: fromText(tenant), principal: fromText(principal) },
    contextId: contextId(fromText(context)),
    name: fromText(name),
  };
}

function digestOf({ owner, contextId: context }: ConversationOwner): string {
  return createHash('sha256')
    .update(JSON.stringify([owner.tenant, owner.principal, context]))
    .digest('base64url');
}
