import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Blobs } from '#engine';
import { createPostgresBlobs } from '../../src/engine/adapters/postgres/blobs.ts';
import { migrate, quoted } from '../../src/engine/adapters/postgres/schema.ts';
import { taskKey } from '../../src/engine/ports.ts';
import { sweepContent } from '../../src/server/adapters/content-sweep.ts';
import { openSharedBlobs } from '../../src/server/adapters/shared-blobs.ts';
import { InProcessPostgres } from '../support/pglite.ts';
import { S3_KEYS, s3Server } from '../support/s3.ts';
import { scratchFolder } from '../support/scratch.ts';
import { blobsContract } from './blobs.ts';

const folder = scratchFolder();
const s3 = s3Server(join(folder, 's3'), ['blobs']);
const server = new InProcessPostgres();
let stores = 0;

beforeAll(async () => {
  Object.assign(process.env, S3_KEYS);
  await server.ready();
  const connection = await server.database().connect();
  await migrate(connection, quoted('parley'), 4);
}, 120_000);
afterAll(async () => {
  for (const name of Object.keys(S3_KEYS)) Reflect.deleteProperty(process.env, name);
  await server.close();
});

const inDatabase = (): Blobs => createPostgresBlobs(server.database(), quoted('parley'));
const inBucket = (): string => `s3://blobs/some/where?endpoint=${s3.endpoint}`;
/** A store of its own for each test, or the one that the test has opened. */
const at = (place: () => string, isNew: boolean): Promise<Blobs> => {
  if (isNew) stores += 1;
  return openSharedBlobs(place(), { id: `store-${stores}`, blobs: inDatabase() });
};
const fail = (): never => {
  throw new Error('the place can not be listed');
};
const shared = join(mkdtempSync(join(folder, 'shared-')), 'below');

blobsContract({ name: 'an S3 bucket', open: () => at(inBucket, true), reopen: () => at(inBucket, false) });
blobsContract({ name: 'a shared folder', open: () => at(() => shared, true), reopen: () => at(() => shared, false) });
blobsContract({
  name: 'Postgres',
  open: async () => {
    for (const task of [1, 12, 65_537]) await inDatabase().forget(taskKey(task));
    return inDatabase();
  },
  reopen: async () => inDatabase(),
});

describe('places of large content', () => {
  const name = 'ab'.repeat(32);
  const content = new Uint8Array([1, 2, 3]);

  it('keeps two stores in one place apart', async () => {
    for (const place of [inBucket(), shared]) {
      const [one, two] = [
        await openSharedBlobs(place, { id: 'one', blobs: inDatabase() }),
        await openSharedBlobs(place, { id: 'two', blobs: inDatabase() }),
      ];
      await one.put(taskKey(900), name, content);
      expect(await two.get(taskKey(900), name)).toBeUndefined();
      await two.forget(taskKey(900));
      expect(await one.get(taskKey(900), name)).toBeDefined();
    }
  });

  it('still finds and deletes content that the database has from before', async () => {
    await inDatabase().put(taskKey(901), name, content);
    const blobs = await openSharedBlobs(shared, { id: 'later', blobs: inDatabase() });
    expect(new Uint8Array((await blobs.get(taskKey(901), name)) ?? [])).toEqual(content);
    await blobs.forget(taskKey(901));
    expect(await inDatabase().get(taskKey(901), name)).toBeUndefined();
  });

  it('report content that another node has stored elsewhere', async () => {
    const missing: number[] = [];
    const places = [undefined, join(mkdtempSync(join(folder, 'other-')), 'below')];
    await (await openSharedBlobs(shared, { id: 'split', blobs: inDatabase() })).put(taskKey(903), name, content);
    for (const place of places) {
      const blobs = await openSharedBlobs(place, { id: 'split', blobs: inDatabase(), onMissing: (task) => void missing.push(task) });
      expect(await blobs.get(taskKey(903), name)).toBeUndefined();
    }
    expect(missing).toEqual([903, 903]);
  });

  it.each([
    ['an S3 bucket', inBucket],
    ['a shared folder', (): string => shared],
  ])('sweeps %s: old content of tasks that do not exist', async (_, place) => {
    const blobs = await openSharedBlobs(place(), { id: 'swept', blobs: inDatabase() });
    const [stored, orphan] = [taskKey(903), taskKey(12_904)];
    for (const task of [stored, orphan]) for (const each of [name, 'cd'.repeat(32)]) await blobs.put(task, each, content);
    const asked: number[] = [];
    const sweep = (olderMs: number, isOurs = true): Promise<number> =>
      sweepContent(blobs.list ?? fail, {
        ...{ olderMs, isOurs: () => isOurs, pauseMs: 0 },
        existing: async (tasks) => {
          asked.push(...tasks);
          return new Set(tasks.filter((task) => task === stored));
        },
      });
    // Young content is left alone: its task may be about to be committed.
    expect(await sweep(3_600_000)).toBe(0);
    expect(asked).toEqual([]);
    expect(await sweep(-1000, false)).toBe(0);
    expect(await sweep(-1000)).toBe(2);
    expect(new Set(asked)).toEqual(new Set([stored, orphan]));
    expect(await blobs.get(orphan, name)).toBeUndefined();
    expect(await blobs.get(stored, name)).toBeDefined();
  });

  it('says what is wrong with a place', async () => {
    const open = (place: string): Promise<Blobs> => openSharedBlobs(place, { id: 'x', blobs: inDatabase() });
    await expect(open(`s3://missing?endpoint=${s3.endpoint}`)).rejects.toThrow('there is no bucket missing');
    await expect(open('s3://blobs?endpoint=http://127.0.0.1:1')).rejects.toThrow("can't be reached");
    await expect(open('gs://blobs/x')).rejects.toThrow('gs:// is not supported');
    await expect(open(`s3://blobs?region=x&wrong=1`)).rejects.toThrow('unknown parameter wrong');
  });

  it('refuses names that are no hashes', async () => {
    for (const place of [inBucket(), shared]) {
      const blobs = await openSharedBlobs(place, { id: 'names', blobs: inDatabase() });
      expect.soft(await failure(() => blobs.put(taskKey(1), '../x', content)), place).toBeDefined();
    }
  });
});

/** What a call throws or rejects with. */
async function failure(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}
