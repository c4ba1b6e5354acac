import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Blobs } from '#engine';
import { taskKey } from '../../src/engine/ports.ts';

/** A place for large content, opened by each test. `reopen`: what another node on the same place sees. */
export interface BlobsUnderTest {
  readonly name: string;
  open(): Promise<Blobs>;
  reopen(): Promise<Blobs>;
}

const nameOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** As text: comparing long arrays element by element takes seconds. */
const plain = (content: Uint8Array | undefined): string | undefined =>
  content === undefined ? undefined : Buffer.from(content).toString('base64');

/** What every place for large content must do. */
export function blobsContract({ name, open, reopen }: BlobsUnderTest): void {
  describe(`large content: ${name}`, () => {
    const [one, other] = [taskKey(1), taskKey(65_537)];

    it('returns what was stored, also to another node', async () => {
      const blobs = await open();
      for (const content of [bytes('hello'), bytes(''), new Uint8Array(3_000_000).map((_, at) => at % 251)]) {
        await blobs.put(one, nameOf(content), content);
        expect(plain(await blobs.get(one, nameOf(content)))).toBe(plain(content));
        expect(plain(await (await reopen()).get(one, nameOf(content)))).toBe(plain(content));
      }
    });

    it('stores the same content again without an error', async () => {
      const blobs = await open();
      const content = bytes('twice');
      await blobs.put(one, nameOf(content), content);
      await (await reopen()).put(one, nameOf(content), content);
      expect(plain(await blobs.get(one, nameOf(content)))).toBe(plain(content));
    });

    it('knows nothing of other names and of other tasks', async () => {
      const blobs = await open();
      const content = bytes('mine');
      await blobs.put(one, nameOf(content), content);
      expect(await blobs.get(other, nameOf(content))).toBeUndefined();
      expect(await blobs.get(one, nameOf(bytes('never stored')))).toBeUndefined();
    });

    it('deletes all content of one task, and nothing of another one whose number begins with the same digits', async () => {
      const blobs = await open();
      const [content, more, longer] = [bytes('a'), bytes('b'), taskKey(12)];
      for (const each of [content, more]) await blobs.put(one, nameOf(each), each);
      await blobs.put(longer, nameOf(content), content);
      await blobs.forget(one);
      await blobs.forget(other);
      for (const each of [content, more]) expect(await blobs.get(one, nameOf(each))).toBeUndefined();
      expect(plain(await blobs.get(longer, nameOf(content)))).toBe(plain(content));
    });
  });
}
