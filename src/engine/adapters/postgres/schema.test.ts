import { expect, it } from 'vitest';
import type { PostgresConnection } from './database.ts';
import { migrate, quoted } from './schema.ts';

it('refuses a server that is too old, before it changes anything', async () => {
  const asked: string[] = [];
  const connection: PostgresConnection = {
    query: async <R extends object>({ text }: { readonly text: string }) => {
      asked.push(text);
      return [{ n: 130_023 }] as unknown as readonly R[];
    },
    run: (text) => Promise.reject(new Error(text)),
    end: async () => {},
    cut: () => {},
  };
  await expect(migrate(connection, quoted('parley'), 128)).rejects.toMatchObject({
    fault: 'foreign',
    message: 'the server is Postgres 13; Parley needs 14 or newer',
  });
  expect(asked).toHaveLength(1);
});
