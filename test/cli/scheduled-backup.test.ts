import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ParleyConfig } from '#server';
import { ConfigError, resolveConfig } from '#server';
import { backupPlaceIn } from '../../src/server/adapters/backup/configured.ts';
import { hashInBucket, receiveFile, sendFile } from '../../src/server/adapters/backup/s3-files.ts';
import { s3Bucket } from '../../src/server/adapters/s3.ts';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { S3_KEYS, s3Server } from '../support/s3.ts';
import { scratchFolder } from '../support/scratch.ts';
import { metric, sendBody } from '../support/server.ts';
import { run } from './run.ts';

/** Backups that a node makes by itself, to a folder and to a bucket, and what is restored from them. */
const folder = scratchFolder();
const at = (...names: readonly string[]): string => join(folder, ...names);
const server = s3Server(at('s3'), ['backups']);
const base = { PARLEY_AUTH_FOLDER: at('auth'), PARLEY_SPILL_BYTES: '1000', ...S3_KEYS };
const bucket = (path: string): string => `s3://backups/${path}?endpoint=${server.endpoint}`;
const backsUp = (data: string, to: string, more: readonly string[] = []): Promise<Parley> =>
  parleyServe({ args: ['script', '--data', at(data), '--backup-to', to, '--backup-every-ms', '1000', ...more], env: base });
const names = (place: string): readonly string[] => (existsSync(place) ? readdirSync(place).toSorted() : []);
const whole = (place: string): readonly string[] =>
  names(place).filter((name) => !name.endsWith('.part') && existsSync(join(place, name, 'backup.json')));

async function send(node: Parley, text: string): Promise<string> {
  const response = await fetch(`${node.url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(sendBody(text)),
  });
  return ((await response.json()) as { task: { id: string } }).task.id;
}
const read = async (node: Parley, id: string): Promise<unknown> => await (await fetch(`${node.url}/tasks/${id}`)).json();

/** Sends three tasks, one with a blob, and returns what the node tells about them. */
async function fill(node: Parley): Promise<ReadonlyMap<string, unknown>> {
  const tasks = new Map<string, unknown>();
  for (const text of ['chunks=3', 'ask', 'chunks=2 size=5000']) {
    const id = await send(node, text);
    tasks.set(id, await read(node, id));
  }
  return tasks;
}

/** Waits for a backup that was begun after this call, and returns it. */
async function nextBackup(place: string): Promise<string> {
  const after = (name: string): string => whole(place).find((other) => other > name) ?? '';
  const before = whole(place).at(-1) ?? '';
  // The one after the next: the next may have begun already.
  await eventually(() => after(after(before) || '~') !== '');
  return whole(place).at(-1) ?? '';
}

async function expectRestored(from: string, tasks: ReadonlyMap<string, unknown>): Promise<void> {
  const data = at(`restored-${Math.random()}`);
  const restored = await run(['restore', from, '--data', data], { env: { ...base, PARLEY_AUTH_FOLDER: `${data}-auth` } });
  expect(restored).toMatchObject({ code: 0 });
  const node = await parleyServe({ args: ['script', '--data', data], env: base });
  for (const [id, task] of tasks) expect(await read(node, id)).toEqual(task);
  await node.stop();
}

describe('a node with --backup-to', () => {
  it('makes verified backups in a folder, keeps some, and says so', async () => {
    const place = at('place');
    const node = await backsUp('one', place, ['--backup-keep', '2']);
    const tasks = await fill(node);
    const newest = await nextBackup(place);
    await eventually(() => (whole(place)[0] ?? '') >= newest);
    expect(await metric(node.url, 'parley_backup_last_success_timestamp_seconds')).toBeGreaterThan(1.7e9);
    expect(await metric(node.url, 'parley_backup_interval_seconds')).toBe(1);
    const stats = await run(['store', 'stats', '--data', at('one')], { env: base });
    expect(stats.out).toMatch(/last backup \d{4}-.*, at .*place\n$/);
    const several = await run(['restore', place, '--data', at('never')], { env: base });
    expect([several.code, several.err]).toEqual([1, expect.stringMatching(/has \d backups; name one of them, the newest is .*\/parley-/)]);
    expect(await node.stop()).toBe(0);
    expect(names(place)).toEqual(whole(place));
    expect([1, 2, 3]).toContain(whole(place).length);
    await expectRestored(join(place, whole(place).at(-1) ?? ''), tasks);
  });

  it('keeps the newest backup also beside one that is dated in the future', async () => {
    const place = at('future');
    const before = await backsUp('four', place);
    await eventually(() => whole(place).length > 0);
    await before.stop();
    const [first = ''] = whole(place);
    const future = `${first.slice(0, first.lastIndexOf('-'))}-20990101T000000000Z`;
    cpSync(join(place, first), join(place, future), { recursive: true });
    const others = (): readonly string[] => whole(place).filter((name) => name !== future);
    const node = await backsUp('four', place, ['--backup-keep', '1']);
    await eventually(() => !others().includes(first) && others().length === 1);
    await node.stop();
    expect(others().length).toBeGreaterThan(0);
    expect(whole(place)).toContain(future);
  });

  it('survives kills: what is not finished is never taken for a backup, and is removed', async () => {
    const place = at('killed');
    for (let kill = 0; kill < 3; kill += 1) {
      const node = await backsUp('two', place);
      const ids = await Promise.all([1, 2, 3, 4].map(() => send(node, 'chunks=5 size=5000')));
      expect(ids).toHaveLength(4);
      await eventually(() => names(place).some((name) => name.endsWith('.part')));
      await node.kill();
    }
    const [first = 'parley-0-0'] = whole(place).length > 0 ? whole(place) : names(place);
    const own = first.slice(0, first.lastIndexOf('-'));
    // Half written, half removed; another node's, and something else.
    for (const name of [
      `${own}-20200101T000000000Z.part`,
      `${own}-20200102T000000000Z`,
      'parley-ffffffff-20200101T000000000Z.part',
      'mine',
    ])
      mkdirSync(join(place, name, 'blobs'), { recursive: true });
    const node = await backsUp('two', place);
    const newest = await nextBackup(place);
    expect(names(place).filter((name) => name.includes('-2020') || name === 'mine')).toEqual([
      'mine',
      'parley-ffffffff-20200101T000000000Z.part',
    ]);
    await node.stop();
    for (const name of whole(place)) expect(await run(['backup', '--verify', join(place, name)], { env: base })).toMatchObject({ code: 0 });
    expect(whole(place)).toContain(newest);
  });

  it('warns of a failed backup with its cause, tries again, and removes nothing before a new one is complete', async () => {
    const place = at('blocked');
    writeFileSync(place, 'a file');
    const node = await backsUp('three', place, ['--backup-keep', '1']);
    await eventually(() => (node.errors().match(/the scheduled backup failed/g)?.length ?? 0) > 1);
    expect(node.errors()).toMatch(/"level":"warn".*the scheduled backup failed.*"problem":"[^"]*(?:EEXIST|ENOTDIR)/);
    expect(await metric(node.url, 'parley_backups_total{outcome="failed"}')).toBeGreaterThan(0);
    expect(await metric(node.url, 'parley_backup_last_success_timestamp_seconds')).toBe(0);
    expect((await run(['store', 'stats', '--data', at('three')], { env: base })).out).toMatch(/no backup at .*the last attempt failed/);
    rmSync(place);
    await eventually(() => whole(place).length > 0);
    expect((await run(['store', 'stats', '--data', at('three')], { env: base })).out).not.toContain('failed');
    const manual = await run(['backup', at('manual'), '--data', at('three')], { env: base });
    // One at a time: the node refuses a second one, or the first has just ended.
    if (manual.code !== 0) expect(manual.err).toMatch(/a backup to .* is running/);
    await node.stop();
  });

  it('makes backups in a bucket, and restores from them', async () => {
    const place = at('s3/backups/nodes/a');
    const node = await backsUp('four', bucket('nodes/a'), ['--backup-keep', '2']);
    const tasks = await fill(node);
    const { length } = node.errors().match(/backup made/g) ?? [];
    await eventually(() => (node.errors().match(/backup made/g)?.length ?? 0) > (length ?? 0) + 3);
    expect(await node.stop()).toBe(0);
    expect(existsSync(at('four/backup.new'))).toBe(false);
    const all = await run(['restore', bucket('nodes/a'), '--data', at('never')], { env: base });
    const newest = /the newest is s3:\/\/backups\/nodes\/a\/([^?\s]+)\?endpoint=/.exec(all.err)?.[1] ?? '';
    expect([all.code, newest]).toEqual([1, expect.stringMatching(/^parley-/)]);
    expect(names(place).length).toBeLessThanOrEqual(3);
    expect(await run(['backup', '--verify', bucket(`nodes/a/${newest}`)], { env: base })).toMatchObject({ code: 0 });
    await expectRestored(bucket(`nodes/a/${newest}`), tasks);
    // Changed in the bucket, then without its manifest.
    const object = readdirSync(join(place, newest)).find((name) => name.startsWith('tasks.db') && name.endsWith('object')) ?? '';
    const good = readFileSync(join(place, newest, object));
    writeFileSync(join(place, newest, object), Buffer.concat([good.subarray(0, 100), Buffer.from([255]), good.subarray(101)]));
    const changed = await run(['restore', bucket(`nodes/a/${newest}`), '--data', at('never')], { env: base });
    expect([changed.code, changed.err]).toEqual([1, expect.stringMatching(/tasks\.db was changed/)]);
    expect(existsSync(at('never'))).toBe(false);
  });

  it('starts without its bucket, and warns', async () => {
    const node = await backsUp('five', 's3://nowhere?endpoint=http://127.0.0.1:1');
    await eventually(() => node.errors().includes('the scheduled backup failed'));
    expect(node.errors()).toContain("can't be reached at http://127.0.0.1:1");
    await node.stop();
    const wrong = await run(['backup', 's3://b', '--data', at('five')], { env: base });
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--backup-to s3://BUCKET')]);
  });
});

describe('a place for backups', () => {
  const refused = async (backup: ParleyConfig, data: string | undefined = at('data')): Promise<string> => {
    const settings = resolveConfig({ file: { path: 'parley.config.json', config: backup } });
    return await backupPlaceIn(settings, data).then(
      () => 'accepted',
      (thrown: unknown) => (thrown instanceof ConfigError ? thrown.message : `not for people: ${String(thrown)}`),
    );
  };

  it.each([
    [{ memory: true, backup: { to: '/x' } }, 'this node keeps its tasks in memory'],
    [{ store: 'postgres://h/d', backup: { to: '/x' } }, 'pg_dump'],
    [{ backup: { to: at('data', 'inside') } }, 'inside the data folder'],
    [{ backup: { to: 'gs://b' } }, 'name a folder or s3://BUCKET'],
    [{ backup: { to: 's3://' } }, 'the bucket is missing'],
    [{ backup: { to: 's3://b' } }, 'needs AWS_ACCESS_KEY_ID in the environment'],
    [{ backup: { to: at('elsewhere') } }, 'accepted'],
  ] as const)('%j', async (config, words) => {
    expect(await refused(config)).toContain(words);
  });

  it('takes large files in parts, and finds a changed one', async () => {
    const options = { endpoint: server.endpoint, bucket: 'backups', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', prefix: 'parts/' };
    const bucketOfParts = await s3Bucket(options);
    const bytes = 16 * 2 ** 20 + 1;
    const content = randomBytes(bytes);
    writeFileSync(at('large'), content);
    await sendFile(bucketOfParts, { path: at('large'), key: 'large' });
    const file = { key: 'large', bytes };
    expect(await hashInBucket(bucketOfParts, file)).toBe(createHash('sha256').update(content).digest('hex'));
    await receiveFile(bucketOfParts, file, { path: at('received') });
    expect(readFileSync(at('received')).equals(content)).toBe(true);
    await expect(hashInBucket(bucketOfParts, { key: 'large', bytes: bytes + 1 })).rejects.toThrow('another size');
    await expect(hashInBucket(bucketOfParts, { key: 'none', bytes })).rejects.toThrow('is missing');
  });
});
