import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskKey } from '#engine';
import { isA2AError } from '#protocol';
import type { FileBlobs } from '../../src/engine/adapters/blobs.ts';
import { openBlobs } from '../../src/engine/adapters/blobs.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';
import { mayMount, mountTmpfs } from '../support/tmpfs.ts';

const folder = scratchFolder();

const content = (text: string): Uint8Array => new TextEncoder().encode(text);
const nameOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const key = (task: number): TaskKey => task as TaskKey;
const filesIn = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

describe('blobs as files', () => {
  let root = '';
  let blobs: FileBlobs;
  beforeEach(() => {
    root = mkdtempSync(join(folder, 'root-'));
    blobs = openBlobs(join(root, 'below', 'blobs'));
  });

  it('returns stored content to its task, also after a restart', async () => {
    const [one, two] = [content('one'), new Uint8Array(3_000_000).fill(7)];
    await blobs.put(key(1), nameOf(one), one);
    await blobs.put(key(1), nameOf(two), two);
    await blobs.put(key(12_345), nameOf(one), one);
    const again = openBlobs(join(root, 'below', 'blobs'));
    for (const each of [blobs, again]) {
      expect(new Uint8Array((await each.get(key(1), nameOf(one))) ?? [])).toEqual(one);
      expect((await each.get(key(1), nameOf(two)))?.length).toBe(two.length);
      expect(await each.get(key(2), nameOf(one))).toBeUndefined();
      expect(await each.get(key(12_345), nameOf(two))).toBeUndefined();
    }
  });

  it('stores the same content once, also when put twice at the same time', async () => {
    const bytes = content('same');
    await Promise.all(Array.from({ length: 20 }, () => blobs.put(key(1), nameOf(bytes), bytes)));
    await blobs.put(key(1), nameOf(bytes), bytes);
    expect(filesIn(root)).toEqual([nameOf(bytes)]);
  });

  it('deletes all content of a task, and nothing else', async () => {
    const bytes = content('x');
    for (const task of [1, 2, 999, 1000]) await blobs.put(key(task), nameOf(bytes), bytes);
    await blobs.forget(key(1));
    await blobs.forget(key(77));
    expect(await blobs.get(key(1), nameOf(bytes))).toBeUndefined();
    for (const task of [2, 999, 1000]) expect(await blobs.get(key(task), nameOf(bytes))).toBeDefined();
  });

  it('removes incomplete files and files of deleted tasks', async () => {
    const bytes = content('x');
    for (const task of [1, 2, 1001]) await blobs.put(key(task), nameOf(bytes), bytes);
    const half = join(root, 'below', 'blobs', '0', '1', `${nameOf(bytes)}.1234.part`);
    writeFileSync(half, 'hal');
    expect(await blobs.sweep((task) => task === 1)).toBe(3);
    expect(existsSync(half)).toBe(false);
    expect(filesIn(root)).toEqual([nameOf(bytes)]);
    expect(readdirSync(join(root, 'below', 'blobs'))).toEqual(['0']);
    expect(await openBlobs(join(root, 'nowhere')).sweep(() => true)).toBe(0);
  });

  it('S6: rejects a name that is not a hash', async () => {
    for (const name of ['', '..', '../../x', 'a/b', 'ABC', `${'a'.repeat(64)}/..`, `${'a'.repeat(64)}\0`]) {
      await expect(blobs.put(key(1), name, content('x'))).rejects.toThrow();
      await expect(blobs.get(key(1), name)).rejects.toThrow();
    }
    expect(filesIn(root)).toEqual([]);
  });
});

suiteNeeding('the right to mount a file system', mayMount(), 'blobs on a full disk', () => {
  it('is reported, and leaves no incomplete file', async () => {
    const tmpfs = mountTmpfs(2 ** 20);
    if (tmpfs === undefined) throw new Error('it could be mounted a moment ago');
    try {
      const blobs = openBlobs(tmpfs.path);
      const large = new Uint8Array(2 ** 21);
      const thrown = await blobs.put(key(1), nameOf(large), large).catch((cause: unknown) => cause);
      expect(isA2AError(thrown) && thrown.kind === 'UNAVAILABLE' && (thrown.details.retryAfterMs ?? 0) > 0).toBe(true);
      expect(await blobs.get(key(1), nameOf(large))).toBeUndefined();
      await blobs.put(key(1), nameOf(content('x')), content('x'));
    } finally {
      tmpfs.unmount();
    }
  });
});
