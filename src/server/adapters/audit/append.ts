import { write } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { moveToFull } from './files.ts';

/** The current file of a log. */
export interface CurrentFile {
  /** Its size: everything before this offset is complete. */
  readonly size: number;
  /** The number of its first record, and when it was made. Undefined while it is empty. */
  readonly first: { readonly seq: number; readonly at: number } | undefined;
  /** Appends a text completely or not at all. A write that fails half-way is undone. */
  append(text: string, first: { readonly seq: number; readonly at: number }): Promise<void>;
  /** Moves the file away and starts an empty one. */
  rotate(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** `start` describes what the file has. */
export function createCurrentFile(path: string, start: Pick<CurrentFile, 'size' | 'first'> & { readonly file: FileHandle }): CurrentFile {
  let { size, first } = start;
  let file: FileHandle | undefined = start.file;
  let isTorn = false;
  const opened = async (): Promise<FileHandle> => {
    file ??= await open(path, 'a+', 0o600);
    return file;
  };
  return {
    get size() {
      return size;
    },
    get first() {
      return first;
    },
    append: async (text, from) => {
      const to = await opened();
      if (isTorn) await to.truncate(size);
      isTorn = true;
      const bytes = Buffer.from(text);
      try {
        await writeAll(to, bytes);
      } catch (thrown) {
        await to.truncate(size).then(
          () => {
            isTorn = false;
          },
          () => {}, // tried again before the next write
        );
        throw thrown;
      }
      isTorn = false;
      size += bytes.length;
      first ??= from;
    },
    rotate: async () => {
      if (file === undefined || first === undefined) return;
      await file.sync();
      await moveToFull(path, first.seq);
      const full = file;
      [file, size, first] = [undefined, 0, undefined];
      await full.close();
    },
    sync: async () => void (await file?.sync()),
    close: async () => void (await file?.close()),
  };
}

/** Uses the callback API, which costs least: this runs up to ten times a second. A full disk may take a part of the bytes only. */
async function writeAll({ fd }: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += await new Promise<number>((resolve, reject) => {
      write(fd, bytes, at, bytes.length - at, null, (thrown, written) => (thrown === null ? resolve(written) : reject(thrown)));
    });
  }
}
