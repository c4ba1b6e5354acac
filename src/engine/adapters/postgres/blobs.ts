import type { Blobs } from '../../ports.ts';
import type { PostgresDatabase, Sql } from './database.ts';
import { reading } from './errors.ts';
import type { SchemaName } from './schema.ts';

/**
 * Large content in the database. Each is written by a statement of its own before the commit that
 * refers to it; content is never changed, so it needs no fence.
 */
export function createPostgresBlobs(database: PostgresDatabase, s: SchemaName): Blobs {
  const put: Sql = {
    name: 'blob-put',
    text: `INSERT INTO ${s}.blobs (task, name, content) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
  };
  const get: Sql = { name: 'blob', text: `SELECT content FROM ${s}.blobs WHERE task = $1 AND name = $2` };
  const forget: Sql = { name: 'blob-forget', text: `DELETE FROM ${s}.blobs WHERE task = $1` };
  return {
    put: async (task, name, content) => {
      await reading(() => database.read(put, [task, name, Buffer.from(content.buffer, content.byteOffset, content.byteLength)]));
    },
    get: async (task, name) => {
      const [found] = await reading(() => database.read<{ content: Uint8Array }>(get, [task, name]));
      return found?.content;
    },
    forget: async (task) => {
      await reading(() => database.read(forget, [task]));
    },
  };
}
